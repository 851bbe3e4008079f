"""The tables of docs/how-to/recommend.md, from benchmarks/results/recommend.json."""

from math import exp, log
from statistics import mean, stdev
from typing import Any, NamedTuple

from benchmarks.markdown import GRAPHS, machine_line, table

LENGTH = 20  # of the lists that are shown
LINKS = {
    "web-trackers-2018": "trackers to websites, bipartite",
    "debian-files": "file names to packages, bipartite",
    "debian-packages": "packages to packages that depend on each other",
    "wikispeedia": "articles to articles that link to each other",
    "dblp": "coauthors to authors",
}
BASELINES = {
    "rp3beta": "RP3-beta",
    "adamic-adar": "Adamic-Adar",
    "common-neighbors": "common neighbors",
    "most popular": "most popular",
}
METRICS = {"hit_rate": "hit rate", "recall": "recall", "ndcg": "NDCG", "mrr": "MRR"}


class Way(NamedTuple):
    """A way to recommend: vectors and a score, or a baseline without vectors."""

    vectors: str
    score: str

    @property
    def title(self) -> str:
        """The name in tables."""
        return f"{self._name}; {self.score}" if self.vectors else BASELINES[self.score]

    @property
    def phrase(self) -> str:
        """The name in sentences."""
        if not self.vectors:
            return BASELINES[self.score]
        return f"{self._name} by {self.score.replace(', popularity', ' with popularity')}"

    @property
    def _name(self) -> str:
        preset, _, rest = self.vectors.partition(", ")
        return f"`{preset}`{', ' * bool(rest)}{rest}" if preset.isalpha() else self.vectors


def section(results: dict[str, Any]) -> str:
    """The section of docs/how-to/recommend.md."""
    protocol = results["protocol"]
    parts = "\n\n".join(details(name, found) for name, found in results["graphs"].items())
    return f"""\
{machine_line(results)}

One random edge of each node is held out; in bipartite graphs, of each node on the source side. The
rest is embedded with dim {protocol["dim"]}. For {protocol["sample"]:,} random nodes with a held-out
edge, all nodes without an edge to them are ranked. All values are means ± standard deviations over
{protocol["seeds"]} seeds, each with its own split, sample and vectors. `balanced`, `links` and
`best` are presets. "cosine" is the cosine similarity alone, with a weight of 0 for popularity.

{summary(results)}

Recall@{LENGTH} in percent. "Compared with baselines" is the geometric mean, over the graphs, of the
recall divided by that of the best baseline of the graph. On each graph:

{sentences(results)}

{parts}"""


def ways(results: dict[str, Any]) -> list[Way]:
    """All ways to recommend, vectors first."""
    scores = next(iter(results["graphs"].values()))["scores"]
    found = [Way(vectors, score) for vectors, by_score in scores.items() for score in by_score]
    return sorted(found, key=lambda way: not way.vectors)


def values(found: dict[str, Any], way: Way, metric: str) -> list[float]:
    """The values of a metric, one for each seed."""
    seeds: list[float] = found["scores"][way.vectors][way.score][f"{metric}@{LENGTH}"]
    return seeds


def recall(found: dict[str, Any], way: Way) -> float:
    """The mean recall in percent."""
    return 100 * mean(values(found, way, "recall"))


def best(results: dict[str, Any], found: dict[str, Any], *, with_vectors: bool) -> Way:
    """The vectors, or the baseline, with the highest recall on a graph."""
    some = (way for way in ways(results) if bool(way.vectors) == with_vectors)
    return max(some, key=lambda way: recall(found, way))


def compared(results: dict[str, Any], way: Way) -> float:
    """The geometric mean of the recall divided by that of the best baseline."""
    ratios = (
        recall(found, way) / recall(found, best(results, found, with_vectors=False))
        for found in results["graphs"].values()
    )
    return exp(mean(log(ratio) for ratio in ratios))


def summary(results: dict[str, Any]) -> str:
    """Recall of every way on every graph, with the best one in bold."""
    graphs = results["graphs"]
    highest = {
        name: max(recall(found, way) for way in ways(results)) for name, found in graphs.items()
    }
    rows = []
    for way in ways(results):
        cells = []
        for name, found in graphs.items():
            text = spread([100 * value for value in values(found, way, "recall")])
            cells.append(f"**{text}**" if recall(found, way) == highest[name] else text)
        rows.append([way.title, *cells, f"{compared(results, way):.2f}"])
    return table(["recall, %", *(GRAPHS[name] for name in graphs), "compared with baselines"], rows)


def sentences(results: dict[str, Any]) -> str:
    """Which way is best on each graph; a difference within one standard deviation is a tie."""
    lines = []
    for name, found in results["graphs"].items():
        both = [best(results, found, with_vectors=given) for given in (True, False)]
        first, second = sorted(both, key=lambda way: -recall(found, way))
        high, low = (f"{recall(found, way):.1f} %" for way in (first, second))
        deviation = max(100 * stdev(values(found, way, "recall")) for way in both)
        if recall(found, first) - recall(found, second) < deviation:
            text = f"{first.phrase} ({high}) and {second.phrase} ({low}) are equally good."
        else:
            kind = "vectors" if second.vectors else "baseline"
            text = f"{first.phrase} is best ({high}); the best {kind}: {second.phrase} ({low})."
        lines.append(f"- {GRAPHS[name]} ({LINKS[name]}): {text}")
    return "\n".join(lines)


def details(name: str, found: dict[str, Any]) -> str:
    """All metrics on one graph."""
    rows = []
    for way in ways({"graphs": {name: found}}):
        shares = [spread([100 * v for v in values(found, way, metric)]) for metric in METRICS]
        coverage = spread([100 * value for value in values(found, way, "coverage")])
        rows.append([way.title, *shares, coverage, spread(values(found, way, "popularity"))])
    header = [*(f"{title}, %" for title in METRICS.values()), "coverage, %", "popularity"]
    return f"""\
### {GRAPHS[name][0].upper()}{GRAPHS[name][1:]}: {found["nodes"]:,} nodes, {found["edges"]:,} edges

The first {LENGTH} of {found["candidates"]:,.0f} candidates for {found["tested"]:,.0f} nodes.
"coverage" is the share of candidates that are recommended to some node, "popularity" the mean
number of edges of recommended nodes; held-out neighbors have {found["held_out_popularity"]:,.0f}.

{table(["", *header], rows)}"""


def spread(seeds: list[float]) -> str:
    """Mean ± standard deviation."""
    digits = 1 if mean(seeds) < 1000 else 0
    return f"{mean(seeds):,.{digits}f} ± {stdev(seeds):,.{digits}f}"
