""".mat: a sparse square matrix of a MATLAB file, `network` by default."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from hopvec.errors import FormatError
from hopvec.formats.graphs.edges import Matrix, checked_matrix
from hopvec.formats.graphs.matlab5 import HEADER, DamageError, MatlabFile, Variable
from hopvec.formats.graphs.options import ReadOptions
from hopvec.formats.graphs.source import Source

SUFFIXES = (".mat",)
OPTIONS = frozenset({"variable", "unweighted"})

DEFAULT = "network"
HDF5 = b"\x89HDF\r\n\x1a\n"


def recognize(source: Source) -> str | None:
    """MATLAB files begin with a text that says so; HDF5 files with a signature."""
    if source.head.startswith(b"MATLAB"):
        return f"it begins with {source.head[:10].decode('ascii', 'replace')}"
    return "it begins with the signature of HDF5" if source.head.startswith(HDF5) else None


def read_edges(source: Source, options: ReadOptions) -> Matrix:
    """The adjacency matrix; the file does not say whether it is meant to be symmetric."""
    found = read_variable(source, partial(_choose, wanted=options.variable))
    return checked_matrix(found.place, found.matrix, found.metadata, options.unweighted)


class Found(NamedTuple):
    """A variable that was read."""

    matrix: Any
    """Sparse (scipy) or dense (numpy), of real numbers."""
    place: str
    """The file and the variable, for sentences about it."""
    metadata: dict[str, Any]


def read_variable(source: Source, choose: Callable[[str, list[Variable]], Variable]) -> Found:
    """The matrix of the variable that `choose` takes, given the name of the file and all there are.

    Raises FormatError naming the file and what is wrong with it.
    """
    if source.head.startswith((b"MATLAB 7.3", HDF5)):
        raise FormatError(
            f"{source.name}: this is HDF5, which version 7.3 of MATLAB files is and hopvec does "
            "not read. In MATLAB, save it by save(name, 'network', '-v7')."
        )
    if source.head[HEADER - 2 : HEADER] not in (b"IM", b"MI"):
        raise FormatError(f"{source.name}: this is no MATLAB file of version 5 to 7.")
    with source.whole() as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        with _damage(source.name):
            matlab = MatlabFile(data)
            variables = list(matlab.variables())
        chosen = choose(source.name, variables)
        place = f"{source.name}, variable {chosen.name}"
        if chosen.is_complex:
            raise FormatError(f"{place}: it holds complex numbers, not real ones.")
        with _damage(place):
            matrix = matlab.read(chosen)
    metadata: dict[str, Any] = {"variable": chosen.name}
    left = [variable.name for variable in variables if variable is not chosen]
    if left:
        metadata["ignored"] = left
    return Found(matrix, place, metadata)


def _choose(place: str, variables: list[Variable], wanted: str | None) -> Variable:
    found = {variable.name: variable for variable in variables}
    listed = listing(variables)
    if wanted is not None:
        if wanted not in found:
            raise FormatError(f"{place}: there is no variable {wanted!r}; it holds {listed}.")
        if not found[wanted].is_square:
            what = f"{found[wanted].kind}, {_size(found[wanted])}"
            raise FormatError(f"{place}: the variable {wanted!r} is no square matrix but {what}.")
        return found[wanted]
    square = [v for v in variables if v.kind == "sparse" and v.is_square]
    named = [v for v in square if v.name == DEFAULT]
    if len(named or square) == 1:
        return (named or square)[0]
    what = "several sparse square matrices" if square else "no sparse square matrix"
    advice = "Name the one to take as the variable" if square else "Name a square one"
    raise FormatError(f"{place}: there is {what}; it holds {listed}. {advice}.")


def listing(variables: list[Variable]) -> str:
    """All variables of a file in words."""
    return ", ".join(f"{v.name} ({v.kind}, {_size(v)})" for v in variables) or "nothing"


@contextmanager
def _damage(place: str) -> Iterator[None]:
    try:
        yield
    except DamageError as error:
        raise FormatError(f"{place}: damaged MATLAB file ({error}).") from error


def _size(variable: Variable) -> str:
    return " x ".join(f"{length:,}" for length in variable.shape)
