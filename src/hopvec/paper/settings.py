"""The methods and datasets, with the parameters of the paper (section Parameter Settings)."""

from __future__ import annotations

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
METHODS_TEXT = (
    "FastRP (dim 512, orders 3 and 4, normalized as in the authors' code) uses the parameters that "
    "the search of the paper finds for each dataset, with 20 trials, 64 columns and few labels. "
    "RandNE (dim 512, orders up to 3) uses the weights of its authors' code; the same search over "
    "its last two weights finds worse ones. DeepWalk and node2vec (dim 128, walks of 40 nodes, "
    "window 10) use 80 walks per node. LINE (dim 200) uses 100 million samples per order instead "
    "of the 10 billion of the paper, since more do not improve its scores. node2vec uses p = q = "
    "0.25, the best of the points of the paper's grid that were tried. On graphs that are not in "
    "the paper, these methods use an eighth of the walks and a tenth of the samples."
)


def method(cache: ExperimentCache, name: str, label: str) -> Method:
    """A method with the paper's parameters for a dataset, on one thread."""
    if label == "FastRP":
        return cache.tuned(name, FastRP(dim=512, normalize="authors", passes=1, threads=1))
    if label == "RandNE":
        return RandNE(dim=512, threads=1)
    walks, samples = (80, 100_000_000) if name in CPU_SECONDS else (10, 10_000_000)
    if cache.quick:
        walks, samples = walks // 10 or 1, samples // 10
    return {
        "LINE": LINE(dim=200, samples=samples, threads=1),
        "DeepWalk": DeepWalk(walks=walks, threads=1),
        "node2vec": Node2Vec(walks=walks, p=0.25, q=0.25, threads=1),
    }[label]


def methods(cache: ExperimentCache, name: str) -> dict[str, Method]:
    """The methods for a dataset; those that train a model skip large graphs not in the paper."""
    labels = LINEAR if is_large(cache, name) and name not in CPU_SECONDS else PAPER_METHODS
    return {label: method(cache, name, label) for label in labels}


def is_large(cache: ExperimentCache, name: str) -> bool:
    """Whether a graph is too large for methods that train a model, and for many labels."""
    return cache.dataset(name).graph.nodes > (10_000 if cache.quick else 30_000)
