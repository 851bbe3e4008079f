"""The methods of the paper with its parameters (section Parameter Settings), and the data sets."""

from __future__ import annotations

from hopvec.methods import LINE, DeepWalk, FastRP, Method, Node2Vec, RandNE
from hopvec.paper.experiment_cache import ExperimentCache
from hopvec.paper.published import CPU_SECONDS

PUBLISHED = ("blogcatalog", "flickr", "www-10k")  # classified in the paper
BEYOND = (  # labeled graphs that the paper does not have
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
METHODS = ("FastRP", "RandNE", "LINE", "DeepWalk", "node2vec")
LINEAR = ("FastRP", "RandNE")
TEXT = (
    "FastRP (dim 512, orders 3 and 4, normalized as in the authors' code) has the parameters that "
    "the search of the paper finds for each data set: 20 rounds with 64 columns on few labels. "
    "RandNE (dim 512, orders to 3) has the weights of its authors' code: the same search over the "
    "last two finds worse ones. DeepWalk and node2vec (dim 128, walks of 40 nodes, window 10) take "
    "80 walks a node, LINE (dim 200) 100 million samples an order, where the paper has 10 billion: "
    "more do not raise its scores. node2vec has p = q = 0.25, the better of the points of the "
    "paper's grid that were tried. On graphs that the paper does not have they take an eighth of "
    "the walks and a tenth of the samples."
)


def method(cache: ExperimentCache, name: str, label: str) -> Method:
    """A method on one thread as the paper sets it for a data set; quick ones learn from less."""
    if label == "FastRP":
        return cache.tuned(name, FastRP(dim=512, normalize="authors", threads=1))
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
    """The methods for a data set: those that train leave out large graphs without figures."""
    labels = LINEAR if large(cache, name) and name not in CPU_SECONDS else METHODS
    return {label: method(cache, name, label) for label in labels}


def large(cache: ExperimentCache, name: str) -> bool:
    """Whether a graph is too large for methods that train, and for classifiers with many labels."""
    return cache.dataset(name).graph.nodes > (10_000 if cache.quick else 30_000)
