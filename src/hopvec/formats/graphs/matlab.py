""".mat: a sparse square matrix of a MATLAB file, `network` by default."""

from __future__ import annotations

from typing import Any, BinaryIO, NamedTuple

from hopvec.errors import FormatError
from hopvec.formats.graphs.edges import Matrix, Options, checked_matrix
from hopvec.formats.graphs.source import Source

SUFFIXES = (".mat",)
OPTIONS = frozenset({"variable", "unweighted"})

DEFAULT = "network"
HDF5 = b"\x89HDF\r\n\x1a\n"


class Variable(NamedTuple):
    """What a MATLAB file says of a variable."""

    name: str
    shape: tuple[int, ...]
    kind: str

    @property
    def is_square(self) -> bool:
        """Whether it could be an adjacency matrix."""
        return len(self.shape) == 2 and self.shape[0] == self.shape[1] > 0


def recognize(source: Source) -> str | None:
    """MATLAB files begin with a text that says so; HDF5 files with a signature."""
    if source.head.startswith(b"MATLAB"):
        return f"it begins with {source.head[:10].decode('ascii', 'replace')}"
    return "it begins with the signature of HDF5" if source.head.startswith(HDF5) else None


def read_edges(source: Source, options: Options) -> Matrix:
    """The adjacency matrix; the file does not say whether it is meant to be symmetric."""
    if source.head.startswith((b"MATLAB 7.3", HDF5)):
        raise FormatError(
            f"{source.name}: this is HDF5, which version 7.3 of MATLAB files is and hopvec does "
            "not read. In MATLAB, save it by save(name, 'network', '-v7')."
        )
    with source.whole() as file:
        variables = _variables(source.name, file)
        chosen = _choose(source.name, variables, options.variable)
        matrix = _load(source.name, file, chosen)
    facts: dict[str, Any] = {"variable": chosen.name}
    left = [variable.name for variable in variables if variable is not chosen]
    if left:
        facts["ignored"] = left
    return checked_matrix(
        f"{source.name}, variable {chosen.name}", matrix, facts, options.unweighted
    )


def _variables(name: str, file: BinaryIO) -> list[Variable]:
    from scipy.io import whosmat

    try:
        return [Variable(*variable) for variable in whosmat(file)]
    except Exception as error:  # scipy raises nearly anything on damaged files
        raise FormatError(f"{name}: damaged MATLAB file ({error}).") from error


def _choose(place: str, variables: list[Variable], wanted: str | None) -> Variable:
    found = {variable.name: variable for variable in variables}
    listed = ", ".join(f"{v.name} ({v.kind}, {_size(v.shape)})" for v in variables) or "nothing"
    if wanted is not None:
        if wanted not in found:
            raise FormatError(f"{place}: there is no variable {wanted!r}; it holds {listed}.")
        if not found[wanted].is_square:
            size = _size(found[wanted].shape)
            raise FormatError(f"{place}: the variable {wanted!r} is not square but {size}.")
        return found[wanted]
    square = [v for v in variables if v.kind == "sparse" and v.is_square]
    named = [v for v in square if v.name == DEFAULT]
    if len(named or square) == 1:
        return (named or square)[0]
    what = "several sparse square matrices" if square else "no sparse square matrix"
    advice = "Name the one to take as the variable" if square else "Name a square one"
    raise FormatError(f"{place}: there is {what}; it holds {listed}. {advice}.")


def _load(place: str, file: BinaryIO, variable: Variable) -> Any:
    from scipy.io import loadmat

    file.seek(0)
    try:
        return loadmat(file, variable_names=[variable.name])[variable.name]
    except Exception as error:  # scipy raises nearly anything on damaged files
        raise FormatError(
            f"{place}: the variable {variable.name!r} cannot be read ({error})."
        ) from error


def _size(shape: tuple[int, ...]) -> str:
    return " x ".join(f"{length:,}" for length in shape)
