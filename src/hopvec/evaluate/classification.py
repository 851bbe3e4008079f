"""Node classification: how well a linear model predicts the labels of nodes from their vectors."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import mean, stdev
from typing import Annotated, Any, NamedTuple, TypedDict, TypeVar, Unpack, overload

import numpy as np
from numpy.typing import NDArray

from hopvec._native import Stop
from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.evaluate.logistic import Matrix, one_blas_thread, require_extra
from hopvec.evaluate.of_types import labels_of_types
from hopvec.evaluate.one_vs_rest import Members, choose_c, train_and_score
from hopvec.labels import Labels, labels_per_node
from hopvec.machine import cores, run_all, take_rows
from hopvec.methods.parameters import Either, Integer, OneOf, Real, Reals, check, documented
from hopvec.progress import Progress, ProgressOption, callback, no_progress
from hopvec.tabular import Tabular

logger: logging.Logger = logging.getLogger("hopvec")

ROUNDING = 2.0**-20  # a column with a smaller relative deviation counts as constant
Name = TypeVar("Name", str, None)


@documented
@dataclass(frozen=True, kw_only=True)
class ClassificationProtocol:
    """The parameters of `classify`, as recorded in its result.

    Examples
    --------
    >>> from hopvec import evaluate
    >>> protocol = evaluate.ClassificationProtocol()
    >>> protocol.shuffles, protocol.C
    (10, 'auto')
    """

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

    def _summary(self) -> str:
        """A one-line description, for tables."""
        C = "cross-validated" if self.C == "auto" else f"{self.C:g}"  # noqa: N806
        shuffles = "1 shuffle" if self.shuffles == 1 else f"{self.shuffles} shuffles"
        return f"{shuffles} (seed {self.seed}), scale {self.scale}, C {C}"


class ClassifyKeywords(TypedDict, total=False):
    """The keyword arguments of `classify`."""

    shares: Sequence[float]
    shuffles: int
    seed: int
    C: float | str
    scale: str
    types: str | Sequence[str] | None
    threads: int | None
    progress: ProgressOption


class Shuffle(NamedTuple):
    """The scores of one shuffle of the labeled nodes.

    Attributes
    ----------
    C : float
        The inverse regularization strength that was used.
    macro_f1 : float
        Macro F1, in percent.
    micro_f1 : float
        Micro F1, in percent.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, Labels, evaluate
    >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    >>> embedding = FastRP(dim=8).embed(graph)
    >>> labels = Labels.from_pairs(range(6), "aaabbb")
    >>> found = evaluate.classify(embedding, labels, shares=[0.5], shuffles=2, C=1.0)
    >>> found.shares[0].shuffles[0]
    Shuffle(C=1.0, macro_f1=100.0, micro_f1=100.0)
    """

    C: float
    macro_f1: float
    micro_f1: float


@dataclass(frozen=True)
class ShareScores:
    """The scores with one share of the labeled nodes used for training.

    Attributes
    ----------
    share : float
        The share of the labeled nodes that were used for training.
    shuffles : tuple of Shuffle
        The scores of each shuffle.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, Labels, evaluate
    >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    >>> embedding = FastRP(dim=8).embed(graph)
    >>> labels = Labels.from_pairs(range(6), "aaabbb")
    >>> scores = evaluate.classify(embedding, labels, shares=[0.5]).shares[0]
    >>> scores.macro_f1, scores.macro_deviation
    (100.0, 0.0)
    """

    share: float
    shuffles: tuple[Shuffle, ...]

    @property
    def C(self) -> float:  # noqa: N802
        """The inverse regularization strength; with "auto", the median over the shuffles."""
        values = sorted(shuffle.C for shuffle in self.shuffles)
        return values[len(values) // 2]

    @property
    def macro_f1(self) -> float:
        """The mean macro F1 over the shuffles, in percent."""
        return mean(shuffle.macro_f1 for shuffle in self.shuffles)

    @property
    def micro_f1(self) -> float:
        """The mean micro F1 over the shuffles, in percent."""
        return mean(shuffle.micro_f1 for shuffle in self.shuffles)

    @property
    def macro_deviation(self) -> float:
        """The sample standard deviation of macro F1 over the shuffles; 0 for a single shuffle."""
        return _deviation([shuffle.macro_f1 for shuffle in self.shuffles])

    @property
    def micro_deviation(self) -> float:
        """The sample standard deviation of micro F1 over the shuffles; 0 for a single shuffle."""
        return _deviation([shuffle.micro_f1 for shuffle in self.shuffles])

    def _cells(self) -> tuple[str, str, str]:
        """Macro F1, micro F1 and C as strings, for tables."""
        macro = f"{self.macro_f1:.2f} ± {self.macro_deviation:.2f}"
        micro = f"{self.micro_f1:.2f} ± {self.micro_deviation:.2f}"
        return macro, micro, f"{self.C:g}"

    def to_dict(self) -> dict[str, Any]:
        """Return all scores as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The share, C, mean and deviation of macro and micro F1, and the scores of each shuffle.

        Examples
        --------
        >>> from hopvec import FastRP, Graph, Labels, evaluate
        >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
        >>> embedding = FastRP(dim=8).embed(graph)
        >>> labels = Labels.from_pairs(range(6), "aaabbb")
        >>> scores = evaluate.classify(embedding, labels, shares=[0.5]).shares[0]
        >>> scores.to_dict()["macro_f1"]
        {'mean': 100.0, 'deviation': 0.0}
        """
        return {
            "share": self.share,
            "C": self.C,
            "macro_f1": {"mean": self.macro_f1, "deviation": self.macro_deviation},
            "micro_f1": {"mean": self.micro_f1, "deviation": self.micro_deviation},
            "shuffles": [shuffle._asdict() for shuffle in self.shuffles],
        }


@dataclass(frozen=True, repr=False)
class Classification(Tabular):
    """The result of `classify`; `print` shows a table, `to_dict` is ready for JSON.

    Attributes
    ----------
    shares : tuple of ShareScores
        The scores for each training share, without those that were too small or too large.
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
        Labeled nodes that were ignored because they have no vector, in this embedding or in one
        that it is compared with.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, Labels, evaluate
    >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    >>> embedding = FastRP(dim=8).embed(graph)
    >>> labels = Labels.from_pairs(range(6), "aaabbb")
    >>> print(evaluate.classify(embedding, labels, shares=[0.5], shuffles=2, C=1.0))
    dim 8, 6 labeled nodes, 2 classes, one label each (micro F1 is the accuracy)
    2 shuffles (seed 0), scale rms, C 1
     share    macro F1       micro F1          C
      50 %  100.00 ± 0.00  100.00 ± 0.00       1
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
            self._summary(),
            self.protocol._summary(),
            f"{'share':>6}  {'macro F1':^13}  {'micro F1':^13}  {'C':>6}",
        ]
        for scores in self.shares:
            macro, micro, C = scores._cells()  # noqa: N806
            lines.append(f"{100 * scores.share:4.3g} %  {macro:>13}  {micro:>13}  {C:>6}")
        return "\n".join(lines)

    def _table_rows(self) -> list[dict[str, Any]]:
        names = ("share", "C", "macro_f1", "macro_deviation", "micro_f1", "micro_deviation")
        return [{name: getattr(scores, name) for name in names} for scores in self.shares]

    def _caption(self) -> str:
        return f"{self._summary()}; {self.protocol._summary()}"

    def _summary(self) -> str:
        """A one-line description of the vectors and labels."""
        return f"dim {self.dim}, {self._labels_summary()}"

    def _labels_summary(self) -> str:
        """A one-line description of the labels."""
        frequency = labels_per_node(self.labels_per_node)
        accuracy = " (micro F1 is the accuracy)" if self.labels_per_node == 1 else ""
        return f"{self.nodes:,} labeled nodes, {self.classes:,} classes, {frequency}{accuracy}"

    def to_dict(self) -> dict[str, Any]:
        """Return all scores and settings as plain Python values, ready for JSON.

        Returns
        -------
        dict
            The attributes of the result; "shares" holds `ShareScores.to_dict` of each share.

        Examples
        --------
        >>> from hopvec import FastRP, Graph, Labels, evaluate
        >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
        >>> embedding = FastRP(dim=8).embed(graph)
        >>> labels = Labels.from_pairs(range(6), "aaabbb")
        >>> evaluate.classify(embedding, labels, shares=[0.5]).to_dict()["classes"]
        2
        """
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


@dataclass(frozen=True, repr=False)
class ClassificationComparison(Tabular):
    """The result of `classify` for several embeddings; `print` shows one table.

    Attributes
    ----------
    results : dict of str to Classification
        The result of each embedding, all for the same nodes and shuffles.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, Labels, evaluate
    >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    >>> embedding = FastRP(dim=8).embed(graph)
    >>> labels = Labels.from_pairs(range(6), "aaabbb")
    >>> named = {"first": embedding, "second": FastRP(dim=8, seed=1).embed(graph)}
    >>> compared = evaluate.classify(named, labels, shares=[0.5], shuffles=2)
    >>> compared.results["second"].shares[0].macro_f1
    100.0
    """

    results: dict[str, Classification]

    def by_share(self) -> list[tuple[str, ShareScores]]:
        """Return the names and scores of all embeddings, ordered by share.

        Returns
        -------
        list of tuple of str and ShareScores
            For each share, the name and the scores of each embedding.

        Examples
        --------
        >>> from hopvec import FastRP, Graph, Labels, evaluate
        >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
        >>> embedding = FastRP(dim=8).embed(graph)
        >>> labels = Labels.from_pairs(range(6), "aaabbb")
        >>> named = {"a": embedding, "b": embedding}
        >>> compared = evaluate.classify(named, labels, shares=[0.5])
        >>> [(scores.share, name) for name, scores in compared.by_share()]
        [(0.5, 'a'), (0.5, 'b')]
        """
        shares = zip(*(found.shares for found in self.results.values()), strict=True)
        return [pair for row in shares for pair in zip(self.results, row, strict=True)]

    def _table_rows(self) -> list[dict[str, Any]]:
        return [
            {"embedding": name, **row}
            for name, result in self.results.items()
            for row in result._table_rows()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return all scores and settings by the name of the embedding, ready for JSON.

        Returns
        -------
        dict of str to dict
            `Classification.to_dict` of each embedding.

        Examples
        --------
        >>> from hopvec import FastRP, Graph, Labels, evaluate
        >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
        >>> embedding = FastRP(dim=8).embed(graph)
        >>> labels = Labels.from_pairs(range(6), "aaabbb")
        >>> compared = evaluate.classify({"a": embedding}, labels, shares=[0.5])
        >>> list(compared.to_dict())
        ['a']
        """
        return {name: found.to_dict() for name, found in self.results.items()}

    def _caption(self) -> str:
        first = next(iter(self.results.values()))
        return f"{first._labels_summary()}; {first.protocol._summary()}"

    def __str__(self) -> str:
        first = next(iter(self.results.values()))
        width = max(map(len, ("vectors", *self.results)))
        lines = [
            first._labels_summary(),
            first.protocol._summary(),
            f"{'share':>6}  {'vectors':{width}}  {'macro F1':^13}  {'micro F1':^13}  {'C':>6}",
        ]
        for name, scores in self.by_share():
            macro, micro, C = scores._cells()  # noqa: N806
            share = f"{100 * scores.share:4.3g} %"
            lines.append(f"{share}  {name:{width}}  {macro:>13}  {micro:>13}  {C:>6}")
        return "\n".join(lines)


@overload
def classify(
    embedding: Embedding, labels: Labels, **settings: Unpack[ClassifyKeywords]
) -> Classification: ...


@overload
def classify(
    embedding: Mapping[str, Embedding], labels: Labels, **settings: Unpack[ClassifyKeywords]
) -> ClassificationComparison: ...


def classify(
    embedding: Embedding | Mapping[str, Embedding],
    labels: Labels,
    *,
    shares: Sequence[float] = ClassificationProtocol.shares,
    shuffles: int = ClassificationProtocol.shuffles,
    seed: int = ClassificationProtocol.seed,
    C: float | str = ClassificationProtocol.C,  # noqa: N803  (as scikit-learn calls it)
    scale: str = ClassificationProtocol.scale,
    types: str | Sequence[str] | None = None,
    threads: int | None = None,
    progress: ProgressOption = None,
) -> Classification | ClassificationComparison:
    """Measure how well vectors predict the labels of nodes, with the protocol of DeepWalk.

    For each share and shuffle, the first nodes of the shuffle train a one-vs-rest logistic
    regression (L2, the same problem as scikit-learn's solver="liblinear"). Each remaining node gets
    its most probable classes, as many as it has labels. With one label per node, that is the most
    probable class, and micro F1 is the accuracy.

    If each node has one label, a shuffle is stratified if otherwise a class with several nodes had
    none of them among the training nodes: each class then gets its share of the training nodes, and
    at least one.

    Parameters
    ----------
    embedding : Embedding or dict of str to Embedding
        The vectors to evaluate. Several embeddings, by name, are compared on the same shuffles of
        the nodes that have a vector in all of them.
    labels : Labels
        The labels, from `read_labels` or `Labels.from_pairs`. Nodes without a vector are ignored.
    shares : sequence of float
        Shares of the labeled nodes to train on. A share is dropped, with a warning, if it leaves
        no nodes to predict, or fewer than two classes to train on.
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
    types : str or sequence of str, optional
        The only types of nodes to train on and to predict.
    threads : int, optional
        Number of threads; by default all available cores.
    progress : bool or callable, optional
        Whether to show a progress bar; or a function, called with the number of training nodes done
        and the total.

    Returns
    -------
    Classification or ClassificationComparison
        Macro and micro F1 in percent for each share; for a dict, one such result for each
        embedding, in one table. Macro F1 is the mean over all classes of the
        labeled nodes. A class without training nodes ranks last for every node; a class without
        predictions and members scores 0, as with f1_score(zero_division=0) in scikit-learn. Ties
        go to the class that comes first in `labels.classes`.

    Raises
    ------
    ParameterError
        If a parameter is invalid, or every share was dropped.
    MissingExtraError
        If the evaluate extra is not installed.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, Labels, evaluate
    >>> graph = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    >>> embedding = FastRP(dim=8).embed(graph)
    >>> labels = Labels.from_pairs(range(6), "aaabbb")
    >>> evaluate.classify(embedding, labels, shares=[0.5]).shares[0].micro_f1
    100.0

    Compare two embeddings on the same shuffles:

    >>> named = {"first": embedding, "second": FastRP(dim=8, seed=1).embed(graph)}
    >>> compared = evaluate.classify(named, labels, shares=[0.5], shuffles=2)
    >>> compared.results["second"].shares[0].micro_f1
    100.0
    """
    progress = callback(progress, "classifying")
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
    if isinstance(embedding, Embedding):
        if types is not None:
            labels = labels_of_types(labels, types, [embedding])
        return _classify({None: embedding}, labels, protocol, progress)[None]
    _check_embeddings(embedding)
    if types is not None:
        labels = labels_of_types(labels, types, embedding.values())
    return ClassificationComparison(_classify(embedding, labels, protocol, progress))


def _check_embeddings(embeddings: Any) -> None:
    """Raise ParameterError unless these are embeddings by name."""
    if not isinstance(embeddings, Mapping) or not embeddings:
        raise ParameterError(
            "classify: embedding must be an Embedding, or a dict of at least one, got "
            + ("an empty dict." if embeddings == {} else f"a {type(embeddings).__name__}.")
        )
    for name, embedding in embeddings.items():
        if not isinstance(embedding, Embedding):
            kind = type(embedding).__name__
            raise ParameterError(f"classify: {name!r} must be an Embedding, got a {kind}.")


def _classify(
    embeddings: Mapping[Name, Embedding],
    labels: Labels,
    protocol: ClassificationProtocol,
    progress: Progress | None,
) -> dict[Name, Classification]:
    """Classify the same nodes with each embedding."""
    found = _labeled_rows(labels, embeddings)
    splits = _splits(protocol, found)
    of_one = sum(split.training for split in splits)
    finished: list[int] = []
    report = progress or no_progress
    report(0, len(embeddings) * of_one)

    def task(rows: Matrix, split: _Split, stop: Stop) -> tuple[_Split, Shuffle]:
        shuffle = _score_split(rows, found.members, split, protocol, stop)
        finished.append(split.training)
        return split, shuffle

    results: dict[Name, Classification] = {}
    for name, embedding in embeddings.items():
        with _named(name):
            rows = _scaled(embedding, found.rows[name], protocol.scale)
        with one_blas_thread("classify"):
            scored = dict(
                run_all(
                    [partial(task, rows, split) for split in splits],
                    max_workers=protocol.threads or cores(),
                    done=lambda count: report(sum(finished), len(embeddings) * of_one),
                )
            )
        results[name] = Classification(
            shares=tuple(
                ShareScores(share, tuple(scored[s] for s in sorted(scored) if s.share == share))
                for share in map(float, dict.fromkeys(protocol.shares))
                if any(split.share == share for split in splits)
            ),
            protocol=protocol,
            nodes=len(rows),
            classes=len(found.classes),
            labels_per_node=float(found.members.sum() / len(rows)),
            dim=embedding.dim,
            without_vector=found.without_vector,
        )
    return results


class _CommonRows(NamedTuple):
    """The labeled nodes that have a vector in every embedding."""

    rows: dict[Any, NDArray[np.int64]]
    """Their rows in each embedding."""
    members: Members
    classes: tuple[str, ...]
    without_vector: int
    mismatch: str
    """A warning if hardly any id of an embedding matches."""


def _labeled_rows(labels: Labels, embeddings: Mapping[Name, Embedding]) -> _CommonRows:
    """Match the labels with each embedding, in the order of the ids of the first."""
    found = {name: labels.align(embedding, name=name) for name, embedding in embeddings.items()}
    first = next(iter(found.values()))
    nodes = first.nodes
    for other in found.values():
        nodes = nodes[np.isin(nodes, other.nodes)]
    if len(nodes) == 0:
        raise ParameterError("classify: no labeled node has a vector in every embedding.")
    if len(nodes) < max(len(other.nodes) for other in found.values()):
        logger.warning(
            "Comparing on the %s labeled nodes that have a vector in every embedding.",
            f"{len(nodes):,}",
        )
    row_of = np.empty(len(labels), dtype=np.int64)
    rows: dict[Any, NDArray[np.int64]] = {}
    for name, other in found.items():
        row_of[other.nodes] = other.rows
        rows[name] = row_of[nodes]
    members = labels.matrix[nodes].toarray()
    used = members.any(axis=0)
    return _CommonRows(
        rows,
        members[:, used],
        tuple(name for name, use in zip(labels.classes, used, strict=True) if use),
        labels.labeled - len(nodes),
        next((other.mismatch for other in found.values() if other.mismatch), ""),
    )


@contextmanager
def _named(name: str | None) -> Iterator[None]:
    """Add the name of an embedding to errors, if there are several."""
    try:
        yield
    except ParameterError as error:
        if name is None:
            raise
        raise ParameterError(f"{name}: {error}") from error


class _Split(NamedTuple):
    """A split of the labeled nodes: the first `training` nodes of a shuffle train."""

    share: float
    shuffle: int
    training: int

    def order(self, seed: int, members: Members) -> NDArray[np.int64]:
        """The nodes in shuffled order, stratified if a class would be missing in training.

        A class of one node cannot be trained and tested, so it counts only if the training nodes
        are all in one class. Neither do classes count if nodes have several labels: they cannot
        all be in proportion, and the protocol of DeepWalk does not stratify them.
        """
        order = np.random.default_rng([seed, self.shuffle]).permutation(len(members))
        trained = members[order[: self.training]].sum(axis=0) > 0
        several = members.sum(axis=1).max(initial=0) > 1
        if trained.sum() > 1 and (several or trained[members.sum(axis=0) > 1].all()):
            return order
        return _stratified(order, members, self.training)


def _stratified(order: NDArray[np.int64], members: Members, training: int) -> NDArray[np.int64]:
    """A shuffle whose first `training` nodes have each class in proportion, at least once.

    The nodes of each class are taken in the order of the shuffle: first one of each class, then its
    share, rounded down, then any. If there are more classes than training nodes, the smallest
    classes are missing.
    """
    sizes = members.sum(axis=0)
    _, positions = np.nonzero(members[order].T)
    by_class = np.split(positions, np.cumsum(sizes)[:-1])
    chosen = np.zeros(len(order), dtype=bool)
    room = training
    for wanted in (np.ones_like(sizes), sizes * training // len(order)):
        for number in np.argsort(-sizes, kind="stable"):
            free = by_class[number][~chosen[by_class[number]]]
            missing = wanted[number] - (sizes[number] - len(free))
            taken = free[: max(0, min(missing, room))]
            chosen[taken] = True
            room -= len(taken)
    chosen[np.flatnonzero(~chosen)[:room]] = True
    return np.concatenate([order[chosen], order[~chosen]])


def _splits(protocol: ClassificationProtocol, found: _CommonRows) -> list[_Split]:
    """All splits, largest first; shares that cannot be trained or tested are dropped."""
    splits: list[_Split] = []
    faults = []
    for share in sorted(map(float, dict.fromkeys(protocol.shares)), reverse=True):
        training = round(share * len(found.members))
        these = [_Split(share, shuffle, training) for shuffle in range(protocol.shuffles)]
        fault = _fault(share, training, these, protocol.seed, found)
        if fault is None:
            splits += these
        else:
            faults.append(fault)
    if not splits:
        raise ParameterError(
            f"classify: {faults[0]}. {found.mismatch or 'Give more labels, or other shares=.'}"
        )
    for fault in faults:
        logger.warning("%s%s. It is dropped.", fault[0].upper(), fault[1:])
    return splits


def _fault(
    share: float, training: int, splits: Sequence[_Split], seed: int, found: _CommonRows
) -> str | None:
    """Why the splits of a share cannot be scored; None if they can."""
    count = len(found.members)
    if not 0 < training < count:
        return (
            f"a share of {share:g} of {count:,} labeled nodes trains on {training:,} and leaves "
            f"{count - training:,} to predict"
        )
    for split in splits:
        trains = found.members[split.order(seed, found.members)[:training]].any(axis=0)
        if trains.sum() < 2:
            only = found.classes[int(np.argmax(trains))]
            return (
                f"a share of {share:g} of {count:,} labeled nodes trains on {training:,}, in "
                f"shuffle {split.shuffle + 1} of one class only, {only!r}"
            )
    return None


def _score_split(
    rows: Matrix,
    members: Members,
    split: _Split,
    protocol: ClassificationProtocol,
    stop: Stop,
) -> Shuffle:
    """The scores of one split."""
    order = split.order(protocol.seed, members)
    rows, members, training = rows[order], members[order], split.training
    C = protocol.C  # noqa: N806
    if isinstance(C, str):
        C = choose_c(rows[:training], members[:training], stop)  # noqa: N806
    counts = train_and_score(rows, members, training, float(C), stop)
    return Shuffle(float(C), counts.macro_f1, counts.micro_f1)


def _scaled(embedding: Embedding, rows: NDArray[np.int64], scale: str) -> Matrix:
    """The scaled vectors of some rows, each followed by a 1 for the intercept."""
    vectors = take_rows(embedding.vectors, rows).astype(np.float64)
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
