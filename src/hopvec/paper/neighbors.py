"""Table "Top 5 nearest neighbors of four representative websites", by three methods."""

from __future__ import annotations

import numpy as np

from hopvec.embedding import Embedding
from hopvec.evaluate import neighbors
from hopvec.paper import published
from hopvec.paper.experiment_cache import ExperimentCache
from hopvec.paper.report import ReportTable, Section, Verdict
from hopvec.paper.settings import is_large, method, weakened

COMPARED = ("FastRP", "DeepWalk", "RandNE")
WELL_KNOWN: dict[str, tuple[str, ...]] = {  # well-known nodes of available datasets
    "wikispeedia": ("London", "Jazz", "Tiger", "Isaac_Newton"),
    "polblogs": ("dailykos.com", "instapundit.com"),
    "debian-packages": ("firefox-esr", "python3-numpy", "gimp", "postgresql"),
}
PAPER_DATASET = "www-200k"
SAMPLE, K = 1_000, 5
NOISE = 0.03  # differences of shares of a thousand nodes that may be chance


def reproduce(cache: ExperimentCache) -> Section:
    """List the five nearest neighbors of well-known nodes, by three methods."""
    tables: list[ReportTable] = []
    verdicts: list[Verdict] = []
    shares: list[tuple[str, float, float, float]] = []
    for name in cache.available(PAPER_DATASET, *WELL_KNOWN):
        if cache.quick and is_large(cache, name):
            continue
        ids = published.NEIGHBORS if name == PAPER_DATASET else WELL_KNOWN[name]
        found = {label: cache.embedding(name, method(cache, name, label)) for label in COMPARED}
        present = [id_ for id_ in ids if all(id_ in embedding for embedding in found.values())]
        tables += [_table(name, id_, found) for id_ in present]
        fastrp, deepwalk, randne = (same_class(cache, name, one) for one in found.values())
        shares.append((name, fastrp, deepwalk, randne))
        if name == PAPER_DATASET:
            verdicts += [_verdict(id_, found["FastRP"]) for id_ in present]
    verdicts += [_class_verdict(*row, weakened(cache, row[0], *COMPARED)) for row in shares]
    title = f"Share of a node's {K} nearest neighbors that are in its class"
    summary = ReportTable("neighbors-classes", title, ["dataset", *COMPARED], shares)
    return Section(
        name="neighbors",
        title="Nearest neighbors of well-known nodes",
        text=[
            "The exact five nearest neighbors by cosine similarity. The paper compares the "
            "neighbors of four websites, and finds those of FastRP comparable to DeepWalk's and "
            "better than RandNE's. To quantify this, the first table shows the share of neighbors "
            f"that are in the class of their node, over {SAMPLE:,} labeled nodes."
        ],
        verdicts=verdicts,
        tables=[summary, *tables] if shares else [],
        missing=cache.missing(PAPER_DATASET, *WELL_KNOWN),
    )


def same_class(cache: ExperimentCache, name: str, embedding: Embedding) -> float:
    """The share of neighbors in a class of their node, over a sample of the labeled nodes."""
    found = cache.labels(name).align(embedding)
    members = dict(zip(found.rows.tolist(), found.members, strict=True))
    drawn = np.random.default_rng(0).permutation(found.rows)[:SAMPLE]
    near = embedding.nearest_rows(drawn, K).rows
    shared = [
        (members[int(other)] & members[int(row)]).any()
        for row, others in zip(drawn, near, strict=True)
        for other in others
        if int(other) in members
    ]
    return float(np.mean(shared))


def _table(name: str, id_: str, embeddings: dict[str, Embedding]) -> ReportTable:
    found = neighbors(embeddings, [id_], k=K).found[id_]
    rows = [
        [rank + 1, *(f"{near[rank][0]} ({near[rank][1]:.2f})" for near in found.values())]
        for rank in range(K)
    ]
    file = f"neighbors-{name}-{id_.replace('/', '-')}"
    return ReportTable(file, f"{name}: {id_}", ["", *embeddings], rows)


def _verdict(id_: str, fastrp: Embedding) -> Verdict:
    paper = published.NEIGHBORS[id_]["FastRP"]
    here = [str(neighbor) for neighbor, _ in fastrp.nearest(id_, K)]
    shared = set(paper) & set(here)
    return Verdict(
        f"{id_}: {', '.join(paper)}.", f"{', '.join(here)}; {len(shared)} shared.", bool(shared)
    )


def _class_verdict(
    name: str, fastrp: float, deepwalk: float, randne: float, unsupported: str = ""
) -> Verdict:
    return Verdict(
        "The neighbors of FastRP are comparable to DeepWalk's and better than RandNE's.",
        f"{name}: {fastrp:.0%} (FastRP), {deepwalk:.0%} (DeepWalk) and {randne:.0%} (RandNE) are "
        "in the class of their node." + (unsupported and f" {unsupported}"),
        None if unsupported else fastrp >= deepwalk - NOISE and fastrp > randne + NOISE,
    )
