"""The quality of the FastRP presets: python -m benchmarks.quality.

Every preset embeds every labeled graph, and a linear model predicts the labels from the vectors:
evaluate.classify with 10 % of the labels, 10 shuffles, and C chosen on the training nodes, for each
of three seeds of R. They are compared with a setting that is tuned for
each graph, on other shuffles and another R than those that are reported, and with an ablation of
refining, for one seed of R.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from itertools import product
from statistics import mean, median, stdev
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import graphs, machine
from benchmarks.processes import RESULTS, log, write
from hopvec import Embedding, FastRP, Graph, NetMF, datasets
from hopvec.datasets import Dataset
from hopvec.evaluate import classify
from hopvec.methods import Method
from hopvec.methods.presets import PRESETS

PATH = RESULTS / "quality.json"
GRAPHS = (  # fast ones first
    *("cora", "citeseer", "email-eu-core", "polblogs", "eurosis"),
    *("wikispeedia", "wikipedia-pos", "ppi", "blogcatalog", "pubmed", "dblp", "debian-packages"),
)
DIM, SHARE, SHUFFLES = 128, 0.1, 10
SEEDS = (0, 1, 2)  # of R

# The grid for tuning: weights of the last pass.
BETAS = (0.0, 0.25, 0.5)
WEIGHTS = ((0, 0, *[1] * 4), (1,) * 6, (1,) * 10)
TUNING_SHUFFLES, TUNING_SEED = 5, 100  # for both the shuffles and R

SETTINGS = ("balanced", "fast", "best", "links", "tuned")
LONG = (1,) * 10
SUM = (0, 0, 1, 1, 1, 1)
ABLATION = {
    "one pass": {"passes": 1, "spectrum": 1.0},
    "one pass of 4 x the columns": {"passes": 1, "spectrum": 1.0, "oversample": 4},
    "two passes": {"passes": 2},
    "three passes (balanced)": {},
    "balanced, orders 3 to 6 in the last": {"weights": SUM},
    "balanced, orders 3 to 6 in all": {"weights": SUM, "refine_weights": SUM},
    "balanced, orders 2 and 3 in earlier ones": {"refine_weights": (0, 1, 1)},
    "balanced, spectrum 1": {"spectrum": 1.0},
    "balanced, beta 0.5": {"beta": 0.5},
    "balanced, 2 x the columns": {"oversample": 2},
    "five passes": {"passes": 5},
    "six passes, ten hops in the last (best)": {"passes": 6, "weights": LONG},
    "best, order 1 in earlier ones": {
        "passes": 6,
        "weights": LONG,
        "refine_weights": (1,),
    },
    "best, 2 x the columns": {"passes": 6, "weights": LONG, "oversample": 2},
}
MAX_ABLATION_NODES = 50_000
EIGENVECTORS = "exact eigenvectors"
MAX_COMPONENTS = 32  # with more, most leading eigenvectors only distinguish components

BLOGCATALOG: dict[str, Method] = {
    "authors, dim 512, beta tuned": FastRP.preset("authors", beta=-0.9),
    "balanced, dim 512": FastRP.preset("balanced", dim=512),
    "best, dim 512": FastRP.preset("best", dim=512),
    "NetMF, dim 128, exact": NetMF(dim=128, window=10),
}


def main() -> int:
    """Embed, classify, and write results after every graph."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality")
    parser.add_argument(
        "--settings",
        help=f"only these of {','.join(SETTINGS)}; results of others are kept",
    )
    parser.add_argument(
        "--graph",
        action="append",
        choices=GRAPHS,
        help="only this graph; results of others are kept; can be repeated",
    )
    args = parser.parse_args()
    is_part = args.graph or args.settings
    kept = json.loads(PATH.read_text()) if is_part else {"graphs": {}, "blogcatalog": {}}
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "protocol": {
            "dim": DIM,
            "share": SHARE,
            "shuffles": SHUFFLES,
            "seeds": len(SEEDS),
            "tuned": len(BETAS) * len(WEIGHTS),
        },
        "presets": {name: chosen.help for name, chosen in PRESETS.items()},
        "graphs": kept["graphs"],
        "blogcatalog": kept["blogcatalog"],
    }
    for name in args.graph or list(kept["graphs"] if args.settings else GRAPHS):
        data = datasets.load(name, graphs.data_dir())
        if args.settings:
            found = preset_scores(data, args.settings.split(","))
            results["graphs"][name]["scores"] |= found
        else:
            results["graphs"][name] = graph_scores(data)
        write(PATH, results)
    if is_part:
        return 0
    blogcatalog = datasets.load("blogcatalog", graphs.data_dir())
    for title, method in BLOGCATALOG.items():
        results["blogcatalog"][title] = scores(
            f"blogcatalog, {title}", blogcatalog, method, SEEDS[:1]
        )
        write(PATH, results)
    return 0


def preset_scores(data: Dataset, settings: Sequence[str]) -> dict[str, Any]:
    """The scores of presets and of a tuned setting."""
    found: dict[str, Any] = {}
    for name in settings:
        if name == "tuned":
            method = tuned(data, found["balanced"]["C"])
        else:
            method = FastRP.preset(name, dim=DIM)
        found[name] = scores(f"{data.name}, {name}", data, method)
    return found


def graph_scores(data: Dataset) -> dict[str, Any]:
    """The scores of presets, of a tuned setting, and of the ablation on a graph."""
    found: dict[str, Any] = {"nodes": data.graph.nodes, "edges": data.graph.edges}
    found["scores"] = preset_scores(data, SETTINGS)
    found["ablation"] = {}
    if data.graph.nodes > MAX_ABLATION_NODES:
        return found
    for title, changed in ABLATION.items():
        method = FastRP(dim=DIM, **changed)
        found["ablation"][title] = scores(f"{data.name}, {title}", data, method, SEEDS[:1])
    if component_count(data.graph) <= MAX_COMPONENTS:
        found["ablation"][EIGENVECTORS] = eigenvector_scores(data)
    return found


def tuned(data: Dataset, C: float) -> FastRP:  # noqa: N803
    """The best setting of the grid with this C, on separate shuffles and another R."""

    def score(method: FastRP) -> float:
        found = classify(
            with_seed(method, TUNING_SEED).embed(data.graph),
            data.labels,
            shares=(SHARE,),
            shuffles=TUNING_SHUFFLES,
            seed=TUNING_SEED,
            C=C,
        )
        return found.shares[0].macro_f1

    grid = [FastRP(dim=DIM, beta=beta, weights=w) for beta, w in product(BETAS, WEIGHTS)]
    return max(grid, key=score)


def component_count(graph: Graph) -> int:
    """The number of connected components with edges."""
    S = graph.to_scipy()  # noqa: N806
    count, _ = sp.csgraph.connected_components(S, directed=False)
    isolated = np.asarray(S.sum(axis=0) + S.sum(axis=1)).ravel() == 0
    return int(count) - int(isolated.sum())


def eigenvectors(graph: Graph) -> Embedding:
    """The leading eigenvectors of A, scaled by the sum of the orders 1 to 6, with unit rows.

    This is what whitened passes would converge to without unit rows.
    """
    S = graph.to_scipy().astype(np.float64)  # noqa: N806
    S = S.maximum(S.T)  # noqa: N806
    d = np.asarray(S.sum(axis=1)).ravel()
    root = np.divide(1.0, np.sqrt(d), out=np.zeros_like(d), where=d > 0)
    normalized = sp.diags(root) @ S @ sp.diags(root)
    values, U = sp.linalg.eigsh(normalized, DIM + 1, which="LM", v0=np.ones(len(d)))  # noqa: N806
    constant = values.argmax()  # the largest one belongs to the constant vector
    values, U = np.delete(values, constant), np.delete(U, constant, axis=1)  # noqa: N806
    vectors = root[:, None] * U * sum(values**order for order in range(1, 7))
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    return Embedding(unit.astype(np.float32), graph.ids)


def eigenvector_scores(data: Dataset) -> dict[str, Any]:
    """The F1 scores of exact eigenvectors."""
    found = classify(
        eigenvectors(data.graph), data.labels, shares=(SHARE,), shuffles=SHUFFLES
    ).shares[0]
    return {"macro_f1": found.macro_f1, "deviation": found.macro_deviation}


def scores(
    title: str, data: Dataset, method: Method, seeds: Sequence[int] = SEEDS
) -> dict[str, Any]:
    """The F1 scores of a method, and its CPU time."""
    seconds, runs = [], []
    for seed in seeds:
        start = time.process_time()
        embedding = with_seed(method, seed).embed(data.graph)
        seconds.append(time.process_time() - start)
        runs.append(classify(embedding, data.labels, shares=(SHARE,), shuffles=SHUFFLES).shares[0])
    by_seed = zip(*(run.shuffles for run in runs), strict=True)
    by_shuffle = [mean(shuffle.macro_f1 for shuffle in same) for same in by_seed]
    found = {
        "macro_f1": mean(by_shuffle),
        "deviation": stdev(by_shuffle),
        "by_seed": [run.macro_f1 for run in runs],
        "micro_f1": mean(run.micro_f1 for run in runs),
        "C": median(run.C for run in runs),
        "cpu_seconds": median(seconds),
        "parameters": {"method": type(method).__name__, **method._plain_params()},
    }
    log(f"{title}: {found['macro_f1']:.2f} ± {found['deviation']:.2f}, {median(seconds):.2f} s")
    return found


def with_seed(method: Method, seed: int) -> Method:
    """The same method with another R."""
    return type(method)(**{**method.get_params(), "seed": seed})


if __name__ == "__main__":
    sys.exit(main())
