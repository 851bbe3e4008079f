""".mat: a sparse square matrix in a MATLAB file, by default the variable `network`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from hopvec.errors import FormatError
from hopvec.formats.graphs.edges import Matrix, check_matrix_options, checked_matrix
from hopvec.formats.graphs.input_file import InputFile
from hopvec.formats.graphs.matlab5 import HEADER_BYTES, DamageError, MatlabFile, Variable
from hopvec.formats.graphs.options import ReadOptions

SUFFIXES = (".mat",)
OPTIONS = frozenset({"variable", "unweighted"})

DEFAULT_VARIABLE = "network"
HDF5 = b"\x89HDF\r\n\x1a\n"


def recognize(file: InputFile) -> str | None:
    """The file begins with "MATLAB" or with the signature of HDF5."""
    if file.head.startswith(b"MATLAB"):
        return f"it begins with {file.head[:10].decode('ascii', 'replace')}"
    return "it begins with the signature of HDF5" if file.head.startswith(HDF5) else None


def read_edges(file: InputFile, options: ReadOptions) -> Matrix:
    """Return the adjacency matrix. The format does not record whether it is symmetric."""
    check_matrix_options(file.name, options)
    read = read_variable(file, partial(_choose, name=options.variable))
    return checked_matrix(read.location, read.matrix, read.metadata, options.unweighted)


class MatlabVariable(NamedTuple):
    """A variable and its matrix."""

    matrix: Any
    """Sparse (scipy) or dense (numpy), of real numbers."""
    location: str
    """The file and the variable, for error messages."""
    metadata: dict[str, Any]


def read_variable(
    file: InputFile, choose: Callable[[str, list[Variable]], Variable]
) -> MatlabVariable:
    """Read the variable that `choose` selects, given the file name and all its variables.

    Raises FormatError with the file name and the cause.
    """
    if file.head.startswith((b"MATLAB 7.3", HDF5)):
        raise FormatError(
            f"{file.name}: this is a MATLAB file of version 7.3 (HDF5), which hopvec does not "
            "read. In MATLAB, save it with save(name, 'network', '-v7')."
        )
    if file.head[HEADER_BYTES - 2 : HEADER_BYTES] not in (b"IM", b"MI"):
        raise FormatError(f"{file.name}: this is not a MATLAB file of version 5 to 7.")
    with file.seekable() as binary:
        with _damage_reported(file.name):
            matlab = MatlabFile(binary)
            variables = list(matlab.variables())
        chosen = choose(file.name, variables)
        location = f"{file.name}, variable {chosen.name}"
        if chosen.is_complex:
            raise FormatError(f"{location}: weights must be real numbers, but these are complex.")
        with _damage_reported(location):
            matrix = matlab.read(chosen)
    metadata: dict[str, Any] = {"variable": chosen.name}
    ignored = [variable.name for variable in variables if variable is not chosen]
    if ignored:
        metadata["ignored"] = ignored
    return MatlabVariable(matrix, location, metadata)


def _choose(file: str, variables: list[Variable], name: str | None) -> Variable:
    """The variable of that name, else `network`, else the only sparse square matrix."""
    by_name = {variable.name: variable for variable in variables}
    listed = listing(variables)
    if name is not None:
        if name not in by_name:
            raise FormatError(f"{file}: there is no variable {name!r}; the file holds {listed}.")
        if not by_name[name].is_square:
            found = f"{by_name[name].kind}, {_size(by_name[name])}"
            raise FormatError(
                f"{file}: the variable {name!r} must be a square matrix, but is {found}."
            )
        return by_name[name]
    square = [v for v in variables if v.kind == "sparse" and v.is_square]
    default = [v for v in square if v.name == DEFAULT_VARIABLE]
    if len(default or square) == 1:
        return (default or square)[0]
    found = "several sparse square matrices" if square else "no sparse square matrix"
    raise FormatError(
        f"{file}: there is {found}; the file holds {listed}. Name a square matrix with variable=."
    )


def listing(variables: list[Variable]) -> str:
    """The names, types and sizes of the variables, for error messages."""
    return ", ".join(f"{v.name} ({v.kind}, {_size(v)})" for v in variables) or "nothing"


@contextmanager
def _damage_reported(location: str) -> Iterator[None]:
    """Raise FormatError in place of DamageError."""
    try:
        yield
    except DamageError as error:
        raise FormatError(f"{location}: damaged MATLAB file ({error}).") from error


def _size(variable: Variable) -> str:
    return " x ".join(f"{length:,}" for length in variable.shape)
