"""Node classification: how well a linear model predicts the labels of nodes from their vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean, stdev
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hopvec._native import Stop
from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.evaluate.logistic import one_blas_thread, require_extra
from hopvec.evaluate.one_vs_rest import Members, choose_c, train_and_score
from hopvec.labels import LabeledRows, Labels, labels_per_node
from hopvec.machine import cores, run_all
from hopvec.methods.parameters import Either, Integer, OneOf, Real, Reals, check
from hopvec.progress import Progress, no_progress

ROUNDING = 2.0**-20  # a column with a smaller relative deviation counts as constant


@dataclass(frozen=True, kw_only=True)
class ClassificationProtocol:
    """The parameters of `classify`."""

    shares: Annotated[
        Sequence[float], Reals(99, 0.0001, 0.9999), "shares of the labeled nodes to train on"
    ] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    shuffles: Annotated[int, Integer(1, 10_000), "shuffles of the labeled nodes per share"] = 10
    seed: Annotated[int, Integer(0, 2**64 - 1), "seed of the shuffles"] = 0
    C: Annotated[
        float | str,
        Either(Real(1e-6, 1e6), OneOf(("auto",))),
        "inverse regularization strength; auto: cross-validated on the training nodes",
    ] = "auto"
    scale: Annotated[
        str,
        OneOf(("rms", "standardize", "none")),
        "scaling of the vectors: rms, one factor for a mean square of 1; standardize, columns of "
        "mean 0 and variance 1; none, unchanged",
    ] = "rms"
    threads: Annotated[
        int | None,
        Either(Integer(1, 1024), OneOf((None,))),
        "number of threads; by default, the cores available to this process",
    ] = None

    def summary(self) -> str:
        """A one-line description, for tables."""
        C = "cross-validated" if self.C == "auto" else f"{self.C:g}"  # noqa: N806
        shuffles = "1 shuffle" if self.shuffles == 1 else f"{self.shuffles} shuffles"
        return f"{shuffles} (seed {self.seed}), scale {self.scale}, C {C}"


class Shuffle(NamedTuple):
    """The scores of one shuffle, in percent."""

    C: float
    macro_f1: float
    micro_f1: float


@dataclass(frozen=True)
class ShareScores:
    """The scores with one share of the labeled nodes used for training."""

    share: float
    shuffles: tuple[Shuffle, ...]

    @property
    def C(self) -> float:  # noqa: N802
        """The C that was used; with "auto", the median over the shuffles."""
        values = sorted(shuffle.C for shuffle in self.shuffles)
        return values[len(values) // 2]

    @property
    def macro_f1(self) -> float:
        """The mean over the shuffles, in percent."""
        return mean(shuffle.macro_f1 for shuffle in self.shuffles)

    @property
    def micro_f1(self) -> float:
        """The mean over the shuffles, in percent."""
        return mean(shuffle.micro_f1 for shuffle in self.shuffles)

    @property
    def macro_deviation(self) -> float:
        """The sample standard deviation over the shuffles; 0 for a single shuffle."""
        return _deviation([shuffle.macro_f1 for shuffle in self.shuffles])

    @property
    def micro_deviation(self) -> float:
        """The sample standard deviation over the shuffles; 0 for a single shuffle."""
        return _deviation([shuffle.micro_f1 for shuffle in self.shuffles])

    def to_dict(self) -> dict[str, Any]:
        """All scores as plain Python values."""
        return {
            "share": self.share,
            "C": self.C,
            "macro_f1": {"mean": self.macro_f1, "deviation": self.macro_deviation},
            "micro_f1": {"mean": self.micro_f1, "deviation": self.micro_deviation},
            "shuffles": [shuffle._asdict() for shuffle in self.shuffles],
        }


@dataclass(frozen=True)
class Classification:
    """The result of `classify`; `print` shows a table, `to_dict` is ready for JSON.

    Attributes
    ----------
    shares : tuple of ShareScores
        The scores for each training share.
    protocol : ClassificationProtocol
        The parameters that were used.
    nodes : int
        Labeled nodes that have a vector.
    classes : int
        Classes with at least one of these nodes.
    labels_per_node : float
        Mean number of labels per node.
    dim : int
        Dimension of the vectors.
    without_vector : int
        Labeled nodes that were ignored because they have no vector.
    """

    shares: tuple[ShareScores, ...]
    protocol: ClassificationProtocol
    nodes: int
    classes: int
    labels_per_node: float
    dim: int
    without_vector: int

    def __str__(self) -> str:
        lines = [
            self.summary(),
            self.protocol.summary(),
            f"{'share':>6}  {'macro F1':^13}  {'micro F1':^13}  {'C':>6}",
        ]
        for scores in self.shares:
            macro = f"{scores.macro_f1:6.2f} ± {scores.macro_deviation:4.2f}"
            micro = f"{scores.micro_f1:6.2f} ± {scores.micro_deviation:4.2f}"
            lines.append(f"{100 * scores.share:4.3g} %  {macro}  {micro}  {scores.C:>6g}")
        return "\n".join(lines)

    def summary(self) -> str:
        """A one-line description of the vectors and labels."""
        frequency = labels_per_node(self.labels_per_node)
        accuracy = " (micro F1 is the accuracy)" if self.labels_per_node == 1 else ""
        return (
            f"dim {self.dim}, {self.nodes:,} labeled nodes, {self.classes:,} classes, "
            f"{frequency}{accuracy}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All scores and settings as plain Python values, ready for JSON."""
        return {
            "nodes": self.nodes,
            "classes": self.classes,
            "labels_per_node": self.labels_per_node,
            "without_vector": self.without_vector,
            "dim": self.dim,
            "scale": self.protocol.scale,
            "seed": self.protocol.seed,
            "shares": [scores.to_dict() for scores in self.shares],
        }


def classify(
    embedding: Embedding,
    labels: Labels,
    *,
    shares: Sequence[float] = ClassificationProtocol.shares,
    shuffles: int = ClassificationProtocol.shuffles,
    seed: int = ClassificationProtocol.seed,
    C: float | str = ClassificationProtocol.C,  # noqa: N803  (as scikit-learn calls it)
    scale: str = ClassificationProtocol.scale,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Classification:
    """Measure how well vectors predict the labels of nodes, by the protocol of DeepWalk.

    For each share and shuffle, the first nodes of the shuffle train a one-vs-rest logistic
    regression (L2, the same problem as scikit-learn's solver="liblinear"). Each remaining node gets
    its most probable classes, as many as it has labels. With one label per node, that is the most
    probable class, and micro F1 is the accuracy.

    Parameters
    ----------
    embedding : Embedding
        The vectors to evaluate.
    labels : Labels
        The labels, from `read_labels` or `Labels.from_pairs`. Nodes without a vector are ignored.
    shares : sequence of float
        Shares of the labeled nodes to train on.
    shuffles : int
        Number of shuffles per share.
    seed : int
        Seed of the shuffles. A shuffle depends on the seed, its number and the ids only, not on
        the order of rows or the number of threads.
    C : float or "auto"
        Inverse regularization strength. "auto" chooses it for each shuffle from 0.001 to 100, by
        cross-validated macro F1 on the training nodes; labels of test nodes are never used.
    scale : {"rms", "standardize", "none"}
        Scaling of the vectors before training. "rms" multiplies all vectors by one factor, so that
        the mean square of the entries of labeled nodes is 1; "standardize" gives each column mean
        0 and variance 1. Scale matters because the intercept is regularized as well.
    threads : int, optional
        Number of threads; by default all available cores.
    progress : callable, optional
        Called with the number of training nodes done and the total.

    Returns
    -------
    Classification
        Macro and micro F1 in percent for each share. Macro F1 is the mean over all classes of the
        labeled nodes. A class without training nodes ranks last for every node; a class without
        predictions and members scores 0, as with f1_score(zero_division=0) in scikit-learn. Ties
        go to the class that comes first in `labels.classes`.

    Raises
    ------
    ParameterError
        If a parameter is invalid, or a share leaves no nodes or no classes to train or test on.
    MissingExtraError
        If the evaluate extra is not installed.

    Examples
    --------
    >>> from hopvec import FastRP, Graph
    >>> edges = [(u, v) for u in range(40) for v in range(u) if u % 2 == v % 2]
    >>> embedding = FastRP(dim=16).embed(Graph.from_edges(*zip(*edges)))
    >>> labels = Labels.from_pairs(range(40), [node % 2 for node in range(40)])
    >>> classify(embedding, labels, shares=[0.5], shuffles=3).shares[0].micro_f1
    100.0
    """
    protocol = ClassificationProtocol(
        shares=shares, shuffles=shuffles, seed=seed, C=C, scale=scale, threads=threads
    )
    check(protocol, "classify")
    require_extra("classify")
    if not isinstance(labels, Labels):
        raise ParameterError(
            "classify: labels must be Labels, from read_labels or Labels.from_pairs, got "
            f"a {type(labels).__name__}."
        )
    found = labels.align(embedding)
    splits = _splits(protocol, found)
    rows = _scaled(embedding, found.rows, scale)
    total = sum(split.training for split in splits)
    finished: list[int] = []
    report = progress or no_progress
    report(0, total)

    def task(split: _Split, stop: Stop) -> tuple[_Split, Shuffle]:
        shuffle = _score_split(rows, found.members, split, protocol, stop)
        finished.append(split.training)
        return split, shuffle

    with one_blas_thread("classify"):
        scored = dict(
            run_all(
                [partial(task, split) for split in splits],
                max_workers=threads or cores(),
                done=lambda count: report(sum(finished), total),
            )
        )
    return Classification(
        shares=tuple(
            ShareScores(share, tuple(scored[s] for s in sorted(scored) if s.share == share))
            for share in map(float, dict.fromkeys(shares))
        ),
        protocol=protocol,
        nodes=len(rows),
        classes=len(found.classes),
        labels_per_node=float(found.members.sum() / len(rows)),
        dim=embedding.dim,
        without_vector=found.without_vector,
    )


class _Split(NamedTuple):
    """A split of the labeled nodes: the first `training` nodes of a shuffle train."""

    share: float
    shuffle: int
    training: int

    def order(self, seed: int, count: int) -> NDArray[np.int64]:
        """The nodes in shuffled order."""
        return np.random.default_rng([seed, self.shuffle]).permutation(count)


def _splits(protocol: ClassificationProtocol, found: LabeledRows) -> list[_Split]:
    """All splits, largest first. Raises ParameterError if one cannot be trained or tested."""
    count = len(found.rows)
    splits = []
    for share in sorted(map(float, dict.fromkeys(protocol.shares)), reverse=True):
        training = round(share * count)
        if not 0 < training < count:
            raise ParameterError(
                f"classify: a share of {share:g} of {count:,} labeled nodes trains on "
                f"{training:,} and leaves {count - training:,} to predict. "
                + (found.mismatch or "Change shares=.")
            )
        for shuffle in range(protocol.shuffles):
            split = _Split(share, shuffle, training)
            trains = found.members[split.order(protocol.seed, count)[:training]].any(axis=0)
            if trains.sum() < 2:
                only = found.classes[int(np.argmax(trains))]
                raise ParameterError(
                    f"classify: with a share of {share:g}, the training nodes of shuffle "
                    f"{shuffle + 1} ({training:,} of {count:,}) are all in one class, {only!r}. "
                    + (found.mismatch or "Choose a larger share.")
                )
            splits.append(split)
    return splits


def _score_split(
    rows: NDArray[np.float64],
    members: Members,
    split: _Split,
    protocol: ClassificationProtocol,
    stop: Stop,
) -> Shuffle:
    """The scores of one split."""
    order = split.order(protocol.seed, len(rows))
    rows, members, training = rows[order], members[order], split.training
    C = protocol.C  # noqa: N806
    if isinstance(C, str):
        C = choose_c(rows[:training], members[:training], stop)  # noqa: N806
    counts = train_and_score(rows, members, training, float(C), stop)
    return Shuffle(float(C), counts.macro_f1, counts.micro_f1)


def _scaled(embedding: Embedding, rows: NDArray[np.int64], scale: str) -> NDArray[np.float64]:
    """The scaled vectors of some rows, each followed by a 1 for the intercept."""
    vectors = embedding.vectors[rows].astype(np.float64)
    if not np.isfinite(vectors).all():
        wrong = embedding.ids[int(rows[np.argmin(np.isfinite(vectors).all(axis=1))])].as_py()
        raise ParameterError(f"classify: the vector of {wrong!r} contains NaN or infinity.")
    if scale == "rms" and vectors.any():
        vectors /= np.sqrt(np.mean(vectors * vectors))
    elif scale == "standardize":
        size = np.abs(vectors).max(axis=0)
        vectors -= vectors.mean(axis=0)
        deviation = vectors.std(axis=0)
        vectors /= np.where(deviation > ROUNDING * size, deviation, np.inf)
    return np.concatenate([vectors, np.ones((len(vectors), 1))], axis=1)


def _deviation(scores: Sequence[float]) -> float:
    return stdev(scores) if len(scores) > 1 else 0.0
