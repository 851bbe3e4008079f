"""The methods and datasets, with the parameters of the paper (section Parameter Settings)."""

from __future__ import annotations

from dataclasses import dataclass

from hopvec.methods import LINE, DeepWalk, FastRP, Method, Node2Vec, RandNE
from hopvec.paper.experiment_cache import ExperimentCache
from hopvec.paper.published import CPU_SECONDS

IN_PAPER = ("blogcatalog", "flickr", "www-10k")  # classified in the paper
NOT_IN_PAPER = (  # other labeled graphs
    "ppi",
    "wikipedia-pos",
    "cora",
    "citeseer",
    "pubmed",
    "email-eu-core",
    "polblogs",
    "wikispeedia",
    "eurosis",
    "web-trackers-2018",
    "dblp",
    "uk-web-1996",
    "debian-packages",
    "wordnet",
)
PAPER_METHODS = ("FastRP", "RandNE", "LINE", "DeepWalk", "node2vec")
LINEAR = ("FastRP", "RandNE")
WALKS, SAMPLES = 80, 100_000_000  # per node and per order, of the baselines in a full run
WALKS_BEYOND, SAMPLES_BEYOND = 10, 10_000_000  # on graphs that are not in the paper
QUICK = 10  # a quick run uses this fraction of the walks and samples


@dataclass(frozen=True)
class Training:
    """How much the methods that train a model train: walks per node and samples per order."""

    walks: int
    samples: int

    @property
    def millions(self) -> str:
        """The samples in words, such as "100 million"."""
        return f"{self.samples / 1e6:g} million"


def training(cache: ExperimentCache, name: str) -> Training:
    """The walks and samples of a run on a dataset."""
    return _training(name in CPU_SECONDS, quick=cache.quick)


def _training(in_paper: bool, *, quick: bool) -> Training:
    walks, samples = (WALKS, SAMPLES) if in_paper else (WALKS_BEYOND, SAMPLES_BEYOND)
    return Training(walks // QUICK, samples // QUICK) if quick else Training(walks, samples)


def weakened(cache: ExperimentCache, name: str, *labels: str) -> str:
    """Why a run cannot rank methods against these; empty for a full run.

    The baselines of a quick run train less than those of the paper.
    """
    here = training(cache, name)
    full = _training(name in CPU_SECONDS, quick=False)
    if here == full:
        return ""
    reasons = []
    if walkers := [label for label in labels if label in ("DeepWalk", "node2vec")]:
        verb = "use" if len(walkers) > 1 else "uses"
        reasons.append(
            f"{' and '.join(walkers)} {verb} {count(here.walks, 'walk')} per node instead of "
            f"{full.walks}"
        )
    if "LINE" in labels:
        reasons.append(f"LINE uses {here.millions} samples instead of {full.millions}")
    return f"Not judged: {', and '.join(reasons)}." if reasons else ""


def methods_text(cache: ExperimentCache) -> str:
    """The methods and their parameters, as this run uses them."""
    paper, beyond = (_training(in_paper, quick=cache.quick) for in_paper in (True, False))
    less = f", instead of the {WALKS} of the paper" if paper.walks < WALKS else ""
    enough = ", since more do not improve its scores" if paper.samples >= SAMPLES else ""
    return (
        "FastRP (dim 512, orders 3 and 4, normalized as in the authors' code) uses the parameters "
        f"that the search of the paper finds for each dataset, with {cache.trials} trials, 64 "
        "columns and few labels. RandNE (dim 512, orders up to 3) uses the weights of its "
        "authors' code; the same search over its last two weights finds worse ones. DeepWalk and "
        f"node2vec (dim 128, walks of 40 nodes, window 10) use {count(paper.walks, 'walk')} per "
        f"node{less}. LINE (dim 200) uses {paper.millions} samples per order instead of the 10 "
        f"billion of the paper{enough}. node2vec uses p = q = 0.25, the best of the points of the "
        "paper's grid that were tried. On graphs that are not in the paper, these methods use "
        f"{count(beyond.walks, 'walk')} per node and {beyond.millions} samples."
    )


def count(number: int, noun: str) -> str:
    """A number and its noun.

    >>> count(1, "walk"), count(80, "walk")
    ('1 walk', '80 walks')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def method(cache: ExperimentCache, name: str, label: str) -> Method:
    """A method with the paper's parameters for a dataset, on one thread."""
    if label == "FastRP":
        return cache.tuned(name, FastRP(dim=512, normalize="authors", passes=1, threads=1))
    if label == "RandNE":
        return RandNE(dim=512, threads=1)
    given = training(cache, name)
    return {
        "LINE": LINE(dim=200, samples=given.samples, threads=1),
        "DeepWalk": DeepWalk(walks=given.walks, threads=1),
        "node2vec": Node2Vec(walks=given.walks, p=0.25, q=0.25, threads=1),
    }[label]


def methods(cache: ExperimentCache, name: str) -> dict[str, Method]:
    """The methods for a dataset; those that train a model skip large graphs not in the paper."""
    labels = LINEAR if is_large(cache, name) and name not in CPU_SECONDS else PAPER_METHODS
    return {label: method(cache, name, label) for label in labels}


def is_large(cache: ExperimentCache, name: str) -> bool:
    """Whether a graph is too large for methods that train a model, and for many labels."""
    return cache.dataset(name).graph.nodes > max_nodes(cache)


def max_nodes(cache: ExperimentCache) -> int:
    """The number of nodes above which a graph counts as large."""
    return 10_000 if cache.quick else 30_000
