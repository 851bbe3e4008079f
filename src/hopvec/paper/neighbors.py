"""Table "Top 5 nearest neighbors of four representative websites", by three methods."""

from __future__ import annotations

import numpy as np

from hopvec.embedding import Embedding
from hopvec.evaluate import neighbors
from hopvec.paper import published
from hopvec.paper.experiment_cache import ExperimentCache
from hopvec.paper.report import Section, Table, Verdict
from hopvec.paper.settings import large, method

BESIDE = ("FastRP", "DeepWalk", "RandNE")
WELL_KNOWN = {  # nodes of the data sets here that people know
    "wikispeedia": ("London", "Jazz", "Tiger", "Isaac_Newton"),
    "polblogs": ("dailykos.com", "instapundit.com"),
    "debian-packages": ("firefox-esr", "python3-numpy", "gimp", "postgresql"),
}
NAMED = "www-200k"  # the data set of the paper's table
SAMPLE, AROUND = 1_000, 5
NOISE = 0.03  # by which shares of a thousand nodes differ by chance


def reproduce(cache: ExperimentCache) -> Section:
    """The five nearest nodes of well-known ones, by FastRP, DeepWalk and RandNE."""
    tables: list[Table] = []
    verdicts: list[Verdict] = []
    shares: list[tuple[str, float, float, float]] = []
    for name in cache.available(NAMED, *WELL_KNOWN):
        if cache.quick and large(cache, name):
            continue
        ids = published.NEIGHBORS if name == NAMED else WELL_KNOWN[name]
        found = {label: cache.embedding(name, method(cache, name, label)) for label in BESIDE}
        known = [id_ for id_ in ids if all(id_ in embedding for embedding in found.values())]
        tables += [_table(name, id_, found) for id_ in known]
        fastrp, deepwalk, randne = (same_class(cache, name, one) for one in found.values())
        shares.append((name, fastrp, deepwalk, randne))
        if name == NAMED:
            verdicts += [_verdict(id_, found["FastRP"]) for id_ in known]
    verdicts += [_class_verdict(*row) for row in shares]
    title = f"Share of a node's {AROUND} nearest that are of its class"
    summary = Table("neighbors-classes", title, ["data set", *BESIDE], shares)
    return Section(
        name="neighbors",
        title="Nearest neighbors of well-known nodes",
        text=[
            "The exact nearest five by cosine similarity. The paper looks at the neighbors of "
            "four websites, and finds those by FastRP comparable to DeepWalk's and better than "
            "RandNE's. "
            "To count it: the share of neighbors that are of the class of their node, over "
            f"{SAMPLE:,} labeled nodes."
        ],
        verdicts=verdicts,
        tables=[summary, *tables] if shares else [],
        missing=cache.missing(NAMED, *WELL_KNOWN),
    )


def same_class(cache: ExperimentCache, name: str, embedding: Embedding) -> float:
    """The share of neighbors of a class of their node, over a sample of the labeled nodes."""
    found = cache.labels(name).align(embedding)
    members = dict(zip(found.rows.tolist(), found.members, strict=True))
    drawn = np.random.default_rng(0).permutation(found.rows)[:SAMPLE]
    near = embedding.nearest_rows(drawn, AROUND).rows
    of_class = [
        (members[int(other)] & members[int(row)]).any()
        for row, others in zip(drawn, near, strict=True)
        for other in others
        if int(other) in members
    ]
    return float(np.mean(of_class))


def _table(name: str, id_: str, embeddings: dict[str, Embedding]) -> Table:
    found = neighbors(embeddings, [id_], k=AROUND).found[id_]
    rows = [
        [rank + 1, *(f"{near[rank][0]} ({near[rank][1]:.2f})" for near in found.values())]
        for rank in range(AROUND)
    ]
    file = f"neighbors-{name}-{id_.replace('/', '-')}"
    return Table(file, f"{name}: {id_}", ["", *embeddings], rows)


def _verdict(id_: str, fastrp: Embedding) -> Verdict:
    paper = published.NEIGHBORS[id_]["FastRP"]
    here = [str(neighbor) for neighbor, _ in fastrp.nearest(id_, AROUND)]
    shared = set(paper) & set(here)
    return Verdict(
        f"{id_}: {', '.join(paper)}.", f"{', '.join(here)}; {len(shared)} shared.", bool(shared)
    )


def _class_verdict(name: str, fastrp: float, deepwalk: float, randne: float) -> Verdict:
    return Verdict(
        "Neighbors by FastRP are comparable to DeepWalk's and better than RandNE's.",
        f"{name}: of the class of their node {fastrp:.0%} (FastRP), {deepwalk:.0%} (DeepWalk), "
        f"{randne:.0%} (RandNE).",
        fastrp >= deepwalk - NOISE and fastrp > randne + NOISE,
    )
