"""The exceptions of hopvec.

HopvecError
├── GraphError          edges, ids or weights that do not form a valid graph
├── ParameterError      an invalid parameter
├── MemoryLimitError    work that does not fit in the memory limit
├── UnknownNodeError    an id that is not in the embedding
├── FormatError         a file or object that cannot be read or written
├── DatasetError        a dataset that is not on disk, cannot be downloaded, or is damaged
└── MissingExtraError   an optional package that is not installed
"""

from typing import Any

from hopvec.credentials import scrub


class HopvecError(Exception):
    """The base class of all exceptions of hopvec.

    Each exception is also an instance of a built-in one, such as ValueError. Messages name the
    place, the cause and the remedy, and contain no credentials of addresses.

    Examples
    --------
    >>> import hopvec
    >>> try:
    ...     hopvec.FastRP(dim=0).embed([[0, 1], [1, 0]])
    ... except hopvec.HopvecError as error:
    ...     print(error)
    FastRP: dim must be an integer from 1 to 65,536, got 0.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(scrub(part) if isinstance(part, str) else part for part in args))


class GraphError(HopvecError, ValueError):
    """Edges, ids or weights do not form a valid graph.

    Also raised if a method cannot embed a graph, such as a directed one.

    Examples
    --------
    >>> from hopvec import Graph
    >>> Graph.from_edges(["a", "b"], ["b", None])
    Traceback (most recent call last):
    hopvec.errors.GraphError: target, edge 2: there is no id (null).
    """


class ParameterError(HopvecError, ValueError):
    """A parameter has an invalid value.

    Also raised if parameters contradict each other.

    Examples
    --------
    >>> from hopvec import FastRP
    >>> FastRP(beta=2).embed([[0, 1], [1, 0]])
    Traceback (most recent call last):
    hopvec.errors.ParameterError: FastRP: beta must be a number from -1 to 1, got 2.
    """


class MemoryLimitError(HopvecError, MemoryError):
    """The work does not fit in the memory limit.

    The message reports how much memory is needed at least.

    Examples
    --------
    >>> from hopvec import FastRP
    >>> FastRP(memory="1kB").embed([[0, 1], [1, 0]])
    Traceback (most recent call last):
    hopvec.errors.MemoryLimitError: This run needs at least ...
    """

    shortage: Any = None
    """The needs and the limit behind the message, for the command line, which adds its own."""


class UnknownNodeError(HopvecError, KeyError):
    """An id is not in the embedding.

    The message suggests similar ids.

    Examples
    --------
    >>> from hopvec import FastRP, Graph
    >>> FastRP(dim=8).embed(Graph.from_edges(["ann"], ["bob"]))["Ann"]
    Traceback (most recent call last):
    hopvec.errors.UnknownNodeError: No node 'Ann' among the 2 of this embedding. Did you mean 'ann'?
    """

    def __str__(self) -> str:
        """The message without the quotes that KeyError adds."""
        return str(self.args[0])


class FormatError(HopvecError, ValueError):
    """A file or object cannot be read or written.

    The message names the file, and the line if there is one.

    Examples
    --------
    >>> import hopvec
    >>> hopvec.load("missing.parquet")
    Traceback (most recent call last):
    hopvec.errors.FormatError: missing.parquet: there is no such file.
    """


class DatasetError(HopvecError, OSError):
    """A dataset is not on disk, cannot be downloaded, or is damaged.

    The message names the URL or the file.

    Examples
    --------
    >>> from hopvec import DatasetError
    >>> issubclass(DatasetError, OSError)
    True
    """


class MissingExtraError(HopvecError, ImportError):
    """An optional package is not installed.

    The message names the extra that installs it: `pip install 'hopvec[view]'`.

    Examples
    --------
    >>> from hopvec import MissingExtraError
    >>> issubclass(MissingExtraError, ImportError)
    True
    """

    def __str__(self) -> str:
        """The message in `args`, which the command line rewords; ImportError has a copy."""
        return str(self.args[0]) if self.args else ""
