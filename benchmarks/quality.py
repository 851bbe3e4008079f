"""The quality of the FastRP presets: python -m benchmarks.quality.

Every preset embeds every labeled graph, and a linear model predicts the labels from the vectors:
evaluate.classify with 10 % of the labels, 10 shuffles, and C chosen on the training nodes, for
each of three seeds of R. They are compared with a setting that is tuned for each graph, on other
shuffles and another R than those that are reported.
"""

import argparse
import sys
import time
from itertools import product
from statistics import mean, median, stdev
from typing import Any

from benchmarks import graphs, machine
from benchmarks.processes import RESULTS, log, write
from hopvec import FastRP, NetMF, datasets
from hopvec.datasets import Dataset
from hopvec.evaluate import classify
from hopvec.methods import Method
from hopvec.methods.presets import PRESETS

PATH = RESULTS / "quality.json"
GRAPHS = (  # fast ones first
    *("cora", "citeseer", "pubmed", "email-eu-core", "polblogs", "eurosis"),
    *("wikispeedia", "blogcatalog", "wikipedia-pos", "ppi"),
)
LARGE = ("dblp", "uk-web-1996", "debian-packages")
DIM, SHARE, SHUFFLES = 128, 0.1, 10
SEEDS = (0, 1, 2)  # of R

# The grid for tuning.
BETAS = (-0.75, -0.5, 0.0, 0.25, 0.5)
WEIGHTS = ((0, 0, 1), (0, 0, 1, 1), (0, 0, 1, 4), (0, 0, *[1] * 4), (0, 0, *[1] * 8))
TUNING_SHUFFLES, TUNING_SEED = 5, 100  # for both the shuffles and R

BLOGCATALOG: dict[str, Method] = {
    "authors, dim 512, beta tuned": FastRP.preset("authors", beta=-0.9),
    "social, dim 512": FastRP.preset("social", dim=512),
    "social, dim 512 of 2048": FastRP.preset("social", dim=512, oversample=4),
    "best, dim 512 of 2048": FastRP.preset("best", dim=512),
    "social, dim 128 of 512": FastRP.preset("social", dim=128, oversample=4),
    "social, dim 128 of 1024": FastRP.preset("social", dim=128, oversample=8),
    "NetMF, dim 128, exact": NetMF(dim=128, window=10),
}


def main() -> int:
    """Embed, classify, and write results after every graph."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality")
    parser.add_argument("--large", action="store_true", help=f"also {', '.join(LARGE)}: hours")
    args = parser.parse_args()
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "protocol": {"dim": DIM, "share": SHARE, "shuffles": SHUFFLES, "seeds": len(SEEDS)},
        "presets": {name: chosen.help for name, chosen in PRESETS.items()},
        "graphs": {},
        "blogcatalog": {},
    }
    for name in (*GRAPHS, *(LARGE if args.large else ())):
        results["graphs"][name] = graph_scores(datasets.load(name, graphs.data_dir()))
        write(PATH, results)
    blogcatalog = datasets.load("blogcatalog", graphs.data_dir())
    for title, method in BLOGCATALOG.items():
        results["blogcatalog"][title] = scores(f"blogcatalog, {title}", blogcatalog, method)
        write(PATH, results)
    return 0


def graph_scores(data: Dataset) -> dict[str, Any]:
    """The scores of every preset and of a tuned setting on a graph."""
    found: dict[str, Any] = {"nodes": data.graph.nodes, "edges": data.graph.edges, "scores": {}}
    for name in PRESETS:
        method = FastRP.preset(name, dim=DIM)
        found["scores"][name] = scores(f"{data.name}, {name}", data, method)
    C = found["scores"]["balanced"]["C"]  # noqa: N806
    found["scores"]["tuned"] = scores(f"{data.name}, tuned", data, tuned(data, C))
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


def scores(title: str, data: Dataset, method: Method) -> dict[str, Any]:
    """The F1 scores of a method, and its CPU time."""
    seconds, runs = [], []
    for seed in SEEDS:
        start = time.process_time()
        embedding = with_seed(method, seed).embed(data.graph)
        seconds.append(time.process_time() - start)
        runs.append(classify(embedding, data.labels, shares=(SHARE,), shuffles=SHUFFLES).shares[0])
    by_seed = zip(*(run.shuffles for run in runs), strict=True)
    by_shuffle = [mean(shuffle.macro_f1 for shuffle in shuffles) for shuffles in by_seed]
    found = {
        "macro_f1": mean(by_shuffle),
        "deviation": stdev(by_shuffle),
        "by_seed": [run.macro_f1 for run in runs],
        "micro_f1": mean(run.micro_f1 for run in runs),
        "C": median(run.C for run in runs),
        "cpu_seconds": median(seconds),
        "parameters": {"method": type(method).__name__, **method.plain_params()},
    }
    log(f"{title}: {found['macro_f1']:.2f} ± {found['deviation']:.2f}, {median(seconds):.2f} s")
    return found


def with_seed(method: Method, seed: int) -> Method:
    """The same method with another R."""
    return type(method)(**{**method.get_params(), "seed": seed})


if __name__ == "__main__":
    sys.exit(main())
