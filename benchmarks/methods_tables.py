"""Tables of methods: time, memory and quality of every tool."""

from collections.abc import Iterator, Sequence
from statistics import fmean, stdev, variance
from typing import Any, NamedTuple

from benchmarks.core_tables import peers_list
from benchmarks.markdown import (
    GRAPHS,
    failure,
    machine_line,
    megabytes,
    number,
    seconds,
    table,
    verdict,
)
from benchmarks.peers import PEERS, title_of

README_GRAPHS = ("blogcatalog", "cora")
README_TOOLS = {
    "hopvec": "**hopvec** (default)",
    "hopvec-fast": "**hopvec**, preset `fast`",
    "hopvec-best": "**hopvec**, preset `best`",
    "hopvec-links": "**hopvec**, preset `links`",
    "pecanpy": "node2vec (PecanPy)",
    "deepwalk": "DeepWalk (gensim)",
    "netmf": "NetMF, exact",
    "prone": "ProNE (nodevectors)",
    "pycleora": "Cleora (pycleora)",
    "fastrp": "FastRP (PyPI fastrp)",
}
PRESETS = {
    "hopvec": "balanced",
    "hopvec-fast": "fast",
    "hopvec-best": "best",
    "hopvec-links": "links",
}
"""The presets of which one, or one for each task, should be faster than a peer and as good."""
TASKS = {"labels": ("macro_f1",), "links": ("uniform", "degree")}
"""The scores of each task: macro F1, and the AUC with each kind of negatives."""
TITLES = {
    "macro_f1": "labels",
    "uniform": "links, uniform negatives",
    "degree": "links, degree negatives",
}
HEADER = (
    *("", "wall, hopvec = 1", "CPU, hopvec = 1", "wall, s", "peak, MB", "macro F1, %"),
    *("micro F1, %", "links, uniform, AUC, %", "links, degree, AUC, %", "seeds"),
)

Scores = Sequence[Sequence[float]]
"""Scores in percent by seed and, for labels, by shuffle."""


def in_order(results: dict[str, Any]) -> dict[str, Any]:
    """The measured graphs, in the order of tables."""
    graphs = results["graphs"]
    return {name: graphs[name] for name in GRAPHS if "tools" in graphs.get(name, {})}


def scores_of(result: dict[str, Any], score: str) -> Scores | None:
    """The scores of a tool on a graph: "macro_f1", "micro_f1", "uniform" or "degree"."""
    if score in ("macro_f1", "micro_f1"):
        found: Scores | None = result.get("labels", {}).get(score)
        return found
    aucs = result.get("links", {}).get(score, {}).get("auc")
    return None if aucs is None else [[100 * auc] for auc in aucs]


def mean_of(result: dict[str, Any], score: str) -> float | None:
    """The mean score over seeds and shuffles, in percent; None if there is none."""
    scores = scores_of(result, score)
    return None if scores is None else fmean(value for row in scores for value in row)


def score_cell(result: dict[str, Any], score: str) -> str:
    """Mean and standard deviation over seeds and shuffles, or empty."""
    scores = scores_of(result, score)
    if scores is None:
        return ""
    values = [value for row in scores for value in row]
    deviation = f" ± {stdev(values):.1f}" if len(values) > 1 else ""
    return f"{fmean(values):.1f}{deviation}"


def row(tool: str, found: dict[str, Any]) -> list[str]:
    """Relative times, memory and all scores of a tool."""
    if "error" in found:
        return [title_of(tool), failure(found["error"]), *[""] * (len(HEADER) - 2)]
    return [
        title_of(tool),
        *(number(found["ratio"][measure]) for measure in ("wall_seconds", "cpu_seconds")),
        seconds(found["wall_seconds"]),
        megabytes(found["peak_rss"]),
        *(score_cell(found, score) for score in ("macro_f1", "micro_f1", "uniform", "degree")),
        str(found["seeds"]),
    ]


def degree_row(tools: dict[str, Any]) -> list[str]:
    """What the degrees of the training graph score, without any vectors."""
    linked = [result for result in tools.values() if "links" in result]
    if not linked:
        return ["degree alone", *[""] * (len(HEADER) - 1)]
    most = max(linked, key=lambda result: result["seeds"])
    alone = {
        sampling: {"auc": scores["degree_alone"]} for sampling, scores in most["links"].items()
    }
    cells = [score_cell({"links": alone}, sampling) for sampling in TASKS["links"]]
    return ["degree alone", *[""] * (len(HEADER) - 4), *cells, str(most["seeds"])]


def rows(tools: dict[str, Any]) -> list[list[str]]:
    """One row per tool, and the degrees last."""
    return [*(row(tool, result) for tool, result in tools.items()), degree_row(tools)]


def failures(results: dict[str, Any]) -> str:
    """A list of failures with their errors."""
    lines = [
        f"- {title_of(tool)} on {GRAPHS[graph]}: {result[key]}"
        for graph, found in in_order(results).items()
        for tool, result in found["tools"].items()
        for key in ("error", "labels_error", "links_error")
        if key in result
    ]
    return "\n".join(["Failures and timeouts:", "", *lines]) if lines else ""


class Difference(NamedTuple):
    """The difference of two mean scores on the same seeds and shuffles."""

    mean: float
    standard_error: float

    @property
    def at_least_as_good(self) -> bool:
        """Whether the first is at least as good, within one standard error."""
        return self.mean >= -self.standard_error


def difference(own: Scores, other: Scores) -> Difference:
    """Own scores minus others, on the seeds that both have.

    Seeds and shuffles are two sources of variance, which add up. The variance of a single seed or
    shuffle is unknown, so it adds none.

    >>> difference([[3.0, 5.0], [4.0, 6.0]], [[3.0, 4.0], [3.0, 4.0]])
    Difference(mean=1.0, standard_error=0.7071067811865476)
    """
    differences = [
        [a - b for a, b in zip(row, others, strict=True)]
        for row, others in zip(own, other, strict=False)
    ]
    by_seed = [fmean(row) for row in differences]
    by_shuffle = [fmean(column) for column in zip(*differences, strict=True)]
    squared = sum(variance(means) / len(means) for means in (by_seed, by_shuffle) if len(means) > 1)
    return Difference(fmean(by_seed), squared**0.5)


def faster_presets(tools: dict[str, Any], peer: dict[str, Any]) -> dict[str, Any]:
    """The compared presets that took less time than a peer in the same run."""
    return {
        tool: tools[tool]
        for tool in PRESETS
        if "wall_seconds" in tools.get(tool, {})
        and tools[tool]["wall_seconds"]["median"] < peer["wall_seconds"]["median"]
    }


def as_good(own: dict[str, Any], peer: dict[str, Any], score: str) -> bool:
    """Whether a preset scores at least as well as a peer; a peer without scores is no better."""
    theirs, ours = scores_of(peer, score), scores_of(own, score)
    if theirs is None or ours is None:
        return theirs is None
    return difference(ours, theirs).at_least_as_good


def lost(tools: dict[str, Any], peer: dict[str, Any]) -> list[str]:
    """The scores in which no faster preset is as good as a peer; empty if one is, in each task."""
    faster = faster_presets(tools, peer)
    if not faster:
        return ["no preset is faster"]
    reasons: list[str] = []
    for scores in TASKS.values():
        worse = {
            tool: [score for score in scores if not as_good(own, peer, score)]
            for tool, own in faster.items()
        }
        closest = min(
            worse,
            key=lambda tool: (
                len(worse[tool]),
                -sum(mean_of(faster[tool], score) or 0 for score in worse[tool]),
            ),
        )
        reasons += (comparison(peer, faster, score, closest) for score in worse[closest])
    return reasons


def comparison(peer: dict[str, Any], presets: dict[str, Any], score: str, preset: str) -> str:
    """A score of a peer next to that of a preset."""
    own = mean_of(presets[preset], score)
    ours = "no score" if own is None else f"{own:.1f}"
    return f"{TITLES[score]} {mean_of(peer, score):.1f} (`{PRESETS[preset]}`: {ours})"


def compared_peers(results: dict[str, Any]) -> Iterator[tuple[str, str, list[str]]]:
    """Every measured peer and graph, and where no preset is faster and as good."""
    for graph, found in in_order(results).items():
        for tool, result in found["tools"].items():
            if tool in PEERS and "wall_seconds" in result:
                yield tool, graph, lost(found["tools"], result)


def verdicts(results: dict[str, Any]) -> str:
    """For every peer and graph, whether presets are faster and as good; and all exceptions."""
    every = {(tool, graph): reasons for tool, graph, reasons in compared_peers(results)}
    graphs = list(in_order(results))
    cells = [
        [
            title_of(peer),
            *(
                verdict(not every[peer, graph] if (peer, graph) in every else None)
                for graph in graphs
            ),
        ]
        for peer in dict.fromkeys(peer for peer, _ in every)
    ]
    won = sum(not reasons for reasons in every.values())
    lines = [
        f"- {title_of(peer)} on {GRAPHS[graph]}: {'; '.join(reasons)}"
        for (peer, graph), reasons in every.items()
        if reasons
    ]
    exceptions = "\n".join(["The exceptions, with the scores of the peer:", "", *lines])
    if not lines:
        exceptions = "There are no exceptions."
    return f"""\
Is a preset (`balanced`, the default, `fast`, `best` or `links`) faster than a peer in the same run,
and at least as good, within one standard error of the difference, in labels (macro F1) and in links
(AUC, with both kinds of negatives)? One preset may be used for labels and another for links. A
peer with a single seed has no standard error in links. Yes for {won} of {len(every)} pairs of a
peer and a graph:

{table(["", *(GRAPHS[graph] for graph in graphs)], cells)}

{exceptions}"""


def section(results: dict[str, Any]) -> str:
    """The section of docs/reference/benchmarks.md."""
    protocol = results["protocol"]
    tools = dict.fromkeys(tool for found in in_order(results).values() for tool in found["tools"])
    tables = "\n\n".join(
        f"### {GRAPHS[graph]}: {found['nodes']:,} nodes, {found['edges']:,} edges, "
        f"{found['shuffles']} shuffles\n\n{table(list(HEADER), rows(found['tools']))}"
        for graph, found in in_order(results).items()
    )
    return f"""\
## Methods side by side

{machine_line(results)}

Every tool embeds the same labeled graphs with {protocol["dim"]} columns and all threads, in its
own environment, and `hopvec.evaluate` scores its vectors. F1 is the score of a linear model
trained on {protocol["share"]:.0%} of the labels, with C chosen on the training nodes. AUC is for
link prediction: {protocol["held_out"]:.0%} of the edges are held out, the rest is embedded, and the
best of dot product, cosine and a regression on products is reported, against pairs drawn uniformly
and against pairs drawn in proportion to degree. "Degree alone" scores a pair by the product of its
degrees in the training graph, without any vectors: a score below it is no merit of the vectors
([how evaluation works](../how-to/evaluation.md)).

Scores are means ± standard deviations over {protocol["seeds"]} seeds of the method, each on the
same shuffles of the labels and on its own split of the edges, which is the same for all tools. A
tool whose runs take over {protocol["seed_seconds"]} seconds together has fewer seeds: the last
column is their number. A tool that takes no seed is run again. Only the embedding is timed. Tools
alternate with hopvec. Methods that train on random walks are skipped on graphs with over
{protocol["walked_nodes"]:,} nodes, exact NetMF on those with over {protocol["dense_nodes"]:,}.

Weights of edges are ignored, since not all tools use them: on Wikipedia-POS, which has weights,
scores are lower than [with them](../concepts/quality.md#results).

hopvec runs with its defaults and with the presets `fast`, `best` and `links`. The others:

{peers_list([tool for tool in tools if tool in PEERS])}

![Macro F1 against time](../images/bench-methods-light.png)

{verdicts(results)}

{tables}

{failures(results)}"""


def readme_block(results: dict[str, Any]) -> str:
    """The block of README.md: time and quality of some tools on a few graphs."""
    graphs = {name: results["graphs"][name]["tools"] for name in README_GRAPHS}
    header = [""]
    for name in graphs:
        header += [f"{GRAPHS[name]}: time", "F1", "AUC"]
    cells = [
        [title, *(cell for tools in graphs.values() for cell in readme_cells(tools.get(tool, {})))]
        for tool, title in README_TOOLS.items()
    ]
    return f"""\
{table(header, cells)}

Time relative to hopvec (larger is slower), F1 of labels, and AUC of held-out links against pairs
drawn by degree, in percent; {results["protocol"]["dim"]} columns, 2 cores; random walks run on
Cora only ([all graphs, tools and settings](docs/reference/benchmarks.md#methods-side-by-side))."""


def readme_cells(found: dict[str, Any]) -> list[str]:
    """Relative time, macro F1, and AUC with negatives drawn by degree; empty if not measured."""
    if "wall_seconds" not in found:
        return [""] * 3
    scores = (mean_of(found, score) for score in ("macro_f1", "degree"))
    cells = ("" if score is None else f"{score:.1f}" for score in scores)
    return [number(found["ratio"]["wall_seconds"]), *cells]
