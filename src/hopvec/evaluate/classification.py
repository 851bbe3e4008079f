"""Node classification: how well a linear model tells the labels of nodes from their vectors."""

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

ROUNDING = 2.0**-20  # a column whose spread is below that part of its size is constant


@dataclass(frozen=True, kw_only=True)
class ClassificationProtocol:
    """How vectors are classified: the parameters of `classify`."""

    shares: Annotated[
        Sequence[float], Reals(99, 0.0001, 0.9999), "shares of the labeled nodes to train on"
    ] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
    shuffles: Annotated[int, Integer(1, 10_000), "shuffles of the labeled nodes for each share"] = (
        10
    )
    seed: Annotated[int, Integer(0, 2**64 - 1), "same seed, same shuffles"] = 0
    C: Annotated[
        float | str,
        Either(Real(1e-6, 1e6), OneOf(("auto",))),
        "inverse strength of the regulariser; auto: chosen within the training nodes",
    ] = "auto"
    scale: Annotated[
        str,
        OneOf(("rms", "standardize", "none")),
        "scale of the vectors: rms, one factor for a mean square of 1; standardize, columns of "
        "mean 0 and variance 1; none, as they are",
    ] = "rms"
    threads: Annotated[
        int | None,
        Either(Integer(1, 1024), OneOf((None,))),
        "threads to use; none given: the cores this process may use",
    ] = None

    def summary(self) -> str:
        """How it is done, in words."""
        C = "chosen within the training nodes" if self.C == "auto" else f"{self.C:g}"  # noqa: N806
        shuffles = "1 shuffle" if self.shuffles == 1 else f"{self.shuffles} shuffles"
        return f"{shuffles} of seed {self.seed}, scale {self.scale}, C {C}"


class Shuffle(NamedTuple):
    """What one shuffle scored."""

    C: float
    macro_f1: float
    """In percent, as micro_f1."""
    micro_f1: float


@dataclass(frozen=True)
class ShareScores:
    """What was scored with one share of the labeled nodes for training."""

    share: float
    shuffles: tuple[Shuffle, ...]

    @property
    def C(self) -> float:  # noqa: N802
        """The C that was used, the middle one where shuffles chose their own."""
        values = sorted(shuffle.C for shuffle in self.shuffles)
        return values[len(values) // 2]

    @property
    def macro_f1(self) -> float:
        """Mean over the shuffles, in percent."""
        return mean(shuffle.macro_f1 for shuffle in self.shuffles)

    @property
    def micro_f1(self) -> float:
        """Mean over the shuffles, in percent."""
        return mean(shuffle.micro_f1 for shuffle in self.shuffles)

    @property
    def macro_deviation(self) -> float:
        """Standard deviation over the shuffles (of a sample: n - 1); 0 for one shuffle."""
        return _deviation([shuffle.macro_f1 for shuffle in self.shuffles])

    @property
    def micro_deviation(self) -> float:
        """Standard deviation over the shuffles (of a sample: n - 1); 0 for one shuffle."""
        return _deviation([shuffle.micro_f1 for shuffle in self.shuffles])

    def to_dict(self) -> dict[str, Any]:
        """All scores as plain values."""
        return {
            "share": self.share,
            "C": self.C,
            "macro_f1": {"mean": self.macro_f1, "deviation": self.macro_deviation},
            "micro_f1": {"mean": self.micro_f1, "deviation": self.micro_deviation},
            "shuffles": [shuffle._asdict() for shuffle in self.shuffles],
        }


@dataclass(frozen=True)
class Classification:
    """What `classify` found: the scores of every share, and what they were taken from."""

    shares: tuple[ShareScores, ...]
    protocol: ClassificationProtocol
    nodes: int
    """Labeled nodes with a vector."""
    classes: int
    """Classes that have one of them as a member."""
    labels_per_node: float
    dim: int
    without_vector: int
    """Labeled nodes without a vector, which were left out."""

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
        """What was classified, in words."""
        often = labels_per_node(self.labels_per_node)
        accuracy = " (micro F1 is the accuracy)" if self.labels_per_node == 1 else ""
        return (
            f"dim {self.dim}, {self.nodes:,} labeled nodes, {self.classes:,} classes, "
            f"{often}{accuracy}"
        )

    def to_dict(self) -> dict[str, Any]:
        """All scores and settings as plain values, ready for JSON."""
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
    """How well the labels of nodes are told from their vectors: the protocol of DeepWalk.

    For every shuffle and share, the first of the shuffled nodes train one logistic regression a
    class (L2, as liblinear and scikit-learn's solver="liblinear" have it), and each other node is
    given its likeliest classes, as many as it truly has. Reported are macro and micro F1 in
    percent. Where every node has one label, the likeliest class is predicted, and micro F1 is the
    accuracy.

    Macro F1 is the mean over all classes of the labeled nodes. A class without a training node
    comes last for every node, and one that is neither predicted nor there to be found scores 0,
    as by scikit-learn's f1_score(zero_division=0) over all classes. Ties go to the class that is
    first in `labels.classes`.

    `scale` says what the vectors are brought to before: "rms" multiplies all by one number that
    makes the mean square of the entries of labeled nodes 1, "standardize" gives every column mean
    0 and variance 1 over them, "none" leaves them alone. It matters: liblinear regularises the
    intercept as well. `C="auto"` is chosen anew for every shuffle within its training nodes, by
    cross-validation of macro F1 over 0.001 to 100; no label of a test node has a part in it.

    A shuffle depends on the seed, its number and the ids alone, not on the order of rows or the
    threads. `progress` is called with the training nodes done and their number. Raises
    ParameterError, MissingExtraError.
    """
    protocol = ClassificationProtocol(
        shares=shares, shuffles=shuffles, seed=seed, C=C, scale=scale, threads=threads
    )
    check(protocol, "classify")
    require_extra("classify")
    if not isinstance(labels, Labels):
        raise ParameterError(
            "classify: labels must be Labels, as read_labels and Labels.from_pairs give them, got "
            f"a {type(labels).__name__}."
        )
    found = labels.align(embedding)
    splits = _splits(protocol, found)
    rows = _scaled(embedding, found.rows, scale)
    of = sum(split.training for split in splits)
    finished: list[int] = []
    tell = progress or no_progress
    tell(0, of)

    def task(split: _Split, stop: Stop) -> tuple[_Split, Shuffle]:
        shuffle = _shuffle(rows, found.members, split, protocol, stop)
        finished.append(split.training)
        return split, shuffle

    with one_blas_thread("classify"):
        scored = dict(
            run_all(
                [partial(task, split) for split in splits],
                max_workers=threads or cores(),
                done=lambda count: tell(sum(finished), of),
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
    """Which nodes train: the first so many of a shuffle."""

    share: float
    shuffle: int
    training: int

    def order(self, seed: int, count: int) -> NDArray[np.int64]:
        """The nodes as they are shuffled."""
        return np.random.default_rng([seed, self.shuffle]).permutation(count)


def _splits(protocol: ClassificationProtocol, found: LabeledRows) -> list[_Split]:
    """All splits, the largest first; refuses one that leaves nothing to learn or to predict."""
    count = len(found.rows)
    splits = []
    for share in sorted(map(float, dict.fromkeys(protocol.shares)), reverse=True):
        training = round(share * count)
        if not 0 < training < count:
            raise ParameterError(
                f"classify: a share of {share:g} of {count:,} labeled nodes trains on "
                f"{training:,} and leaves {count - training:,} to predict. "
                + (found.mismatch or "Take another share.")
            )
        for shuffle in range(protocol.shuffles):
            split = _Split(share, shuffle, training)
            trains = found.members[split.order(protocol.seed, count)[:training]].any(axis=0)
            if trains.sum() < 2:
                only = found.classes[int(np.argmax(trains))]
                raise ParameterError(
                    f"classify: with a share of {share:g}, the training nodes of shuffle "
                    f"{shuffle + 1} ({training:,} of {count:,}) are all in one class, {only!r}. "
                    + (found.mismatch or "Take a larger share.")
                )
            splits.append(split)
    return splits


def _shuffle(
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
    """The vectors of some rows as they are classified, with a one at the end of each."""
    vectors = embedding.vectors[rows].astype(np.float64)
    if not np.isfinite(vectors).all():
        wrong = embedding.ids[int(rows[np.argmin(np.isfinite(vectors).all(axis=1))])].as_py()
        raise ParameterError(f"classify: the vector of {wrong!r} holds a NaN or an infinity.")
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
