"""The exceptions of hopvec.

HopvecError
├── GraphError          edges, ids or weights that do not form a valid graph
├── ParameterError      an invalid parameter
├── MemoryLimitError    work that does not fit in the memory limit
├── UnknownNodeError    an id that is not in the embedding
├── FormatError         a file or object that cannot be read or written
├── DatasetError        a dataset that does not exist or cannot be downloaded
└── MissingExtraError   an optional package that is not installed
"""


class HopvecError(Exception):
    """The base class of all exceptions of hopvec."""


class GraphError(HopvecError, ValueError):
    """Edges, ids or weights do not form a valid graph."""


class ParameterError(HopvecError, ValueError):
    """A parameter has an invalid value."""


class MemoryLimitError(HopvecError, MemoryError):
    """The work does not fit in the memory limit."""


class UnknownNodeError(HopvecError, KeyError):
    """An id is not in the embedding."""

    def __str__(self) -> str:
        """The message without the quotes that KeyError adds."""
        return str(self.args[0])


class FormatError(HopvecError, ValueError):
    """A file or object cannot be read or written."""


class DatasetError(HopvecError, OSError):
    """A dataset does not exist or cannot be downloaded."""


class MissingExtraError(HopvecError, ImportError):
    """An optional package is not installed."""

    def __str__(self) -> str:
        """The message in `args`, which the command line rewords; ImportError has a copy."""
        return str(self.args[0]) if self.args else ""
