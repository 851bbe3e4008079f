"""Everything that hopvec raises on purpose.

HopvecError
├── GraphError          the edges, ids or weights do not make a graph
├── ParameterError      a parameter of a method is outside what is allowed
├── MemoryLimitError    the work does not fit the memory limit
├── UnknownNodeError    an id that is not in the embedding
├── FormatError         a file or object that cannot be read or written
├── DatasetError        a data set that is not there, or cannot be downloaded
└── MissingExtraError   an optional package is not installed
"""


class HopvecError(Exception):
    """The root of all errors that hopvec raises on purpose."""


class GraphError(HopvecError, ValueError):
    """The edges, ids or weights do not make a graph."""


class ParameterError(HopvecError, ValueError):
    """A parameter is outside what is allowed."""


class MemoryLimitError(HopvecError, MemoryError):
    """The work does not fit the memory limit."""


class UnknownNodeError(HopvecError, KeyError):
    """An id that is not in the embedding."""

    def __str__(self) -> str:
        """The sentence itself, where KeyError would show its quoted form."""
        return str(self.args[0])


class FormatError(HopvecError, ValueError):
    """A file or object that cannot be read or written."""


class DatasetError(HopvecError, OSError):
    """A data set that is not there, or cannot be downloaded."""


class MissingExtraError(HopvecError, ImportError):
    """An optional package is not installed."""
