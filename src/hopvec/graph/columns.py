"""Which columns of a table hold the pairs wanted of it, and their values as ids and weights."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from shlex import quote
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from hopvec.errors import FormatError, ParameterError

SOURCES = ("source", "src", "from", "u", "head", "node1", "start", "source_id", "from_id", "id1")
TARGETS = ("target", "dst", "to", "v", "tail", "node2", "end", "target_id", "to_id", "id2")
ENDS = (  # words of two names that are the same but for them: src_name and dst_name
    ("source", "target"),
    ("source", "destination"),
    ("source", "dest"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("from", "to"),
    ("sender", "receiver"),
)
PAIRS = (  # that may as well be names of nodes
    ("user", "item"),
    ("user", "friend"),
    ("user", "product"),
    ("customer", "product"),
    ("follower", "followed"),
    ("follower", "followee"),
    ("citing", "cited"),
    ("parent", "child"),
    ("caller", "callee"),
    ("author", "paper"),
    ("person", "friend"),
)
TIMES = {
    "date",
    "day",
    "month",
    "time",
    "timestamp",
    "ts",
    "year",
}  # from and to which no edge leads
IDS = ("id", "node", "name", "node_id", "nodes", "ids")
LABELS = ("label", "labels", "class", "classes", "group", "category", "categories")
WEIGHTS = ("weight", "weights", "w", "value", "count", "strength", "score")

SHOWN = 6  # names of columns in a note
INDEX = re.compile(r"|unnamed: 0|__index_level_\d+__")  # the row numbers that pandas writes

Place = Callable[[int], str]
"""Where a row stands, counted from 0: 'line 48,213'."""


class PairKind(NamedTuple):
    """What the rows of a table pair: the two ends of an edge, or a node and its label."""

    one: str
    """What a row holds."""
    many: str
    roles: tuple[str, str]
    """What the two columns are called in sentences."""
    names: tuple[Sequence[str], Sequence[str]]
    """The names that they usually have."""
    second: str
    """What may stand several times behind a node."""
    numbers: Sequence[str] = WEIGHTS
    """The names that a column of numbers beside them usually has."""
    alike: bool = True
    """Whether both columns hold the same: integers or texts."""
    ends: Sequence[tuple[str, str]] = ()
    """Words that tell two names apart which are the same otherwise."""
    options: tuple[str, str] = ("--source", "--target")
    """What names the two columns on the command line."""


EDGES = PairKind(
    "an edge", "edges", ("source", "target"), (SOURCES, TARGETS), "neighbors", ends=ENDS
)
LINKS = EDGES._replace(one="a pair", many="pairs", numbers=("label", "y", *WEIGHTS))
LABELED = PairKind(
    "a label",
    "labels",
    ("id", "label"),
    (IDS, LABELS),
    "labels",
    alike=False,
    options=("--id-column", "--label-column"),
)


class EdgeColumns(NamedTuple):
    """The positions of the columns of a table of pairs, from 0 on."""

    source: int
    target: int
    weight: int | None


class Wanted(Protocol):
    """The columns that a caller asks for: a name, or a number from 1 on. None: found by looking."""

    @property
    def pairs(self) -> PairKind:
        """What the columns hold."""

    @property
    def source(self) -> str | int | None:
        """The column of source ids."""

    @property
    def target(self) -> str | int | None:
        """The column of target ids."""

    @property
    def weight(self) -> str | int | None:
        """The column of weights."""

    @property
    def unweighted(self) -> bool:
        """Leaves a column of weights alone."""


def choose_columns(
    place: str, names: Sequence[str] | None, count: int, numeric: Sequence[float], wanted: Wanted
) -> EdgeColumns:
    """The columns of a table that hold the pairs: as asked for, else by their names, else by place.

    `names` is None where the table has none, `numeric` the share of numbers in each column. The
    place of a target is behind that of the source. Without a name, the third of three columns is
    the weight if it holds numbers. The row numbers of pandas are taken for nothing unless they are
    asked for, and of three columns or more, numbers and texts are not taken for an edge.
    """
    check_weight_wish(wanted)
    if count < 2:
        found = f" ({', '.join(names)})" if names else ""
        raise FormatError(f"{place}: {wanted.pairs.one} needs two columns, found {count}{found}.")
    roles = wanted.pairs.roles
    weight = _asked(place, "weight", wanted.weight, names, count)
    source, target = _named_ends(place, names, count, weight, wanted)
    index = {at for at, name in enumerate(names or []) if is_index(name)}
    free = [at for at in range(count) if at not in {source, target, weight} | index]
    by_place = source is None or target is None
    if source is None:
        source = _next(free, place, names, count, wanted)
    if target is None:
        target = _next(free, place, names, count, wanted, behind=source)
    if (
        by_place
        and wanted.pairs.alike
        and count > 2
        and {numeric[source], numeric[target]} == {0, 1}
    ):
        raise _unlike(place, names, (source, target), numeric, wanted)
    if weight is None and not wanted.unweighted:
        weight = _known(wanted.pairs.numbers, names, {source, target})
        if weight is None and names is None and count == 3 and numeric[free[0]]:
            weight = free[0]
    if source == target:
        raise FormatError(f"{place}: {' and '.join(roles)} are the same column, {source + 1}.")
    if weight in (source, target):
        raise FormatError(f"{place}: the weight is in the same column as an id, {weight + 1}.")
    return EdgeColumns(source, target, weight)


def check_weight_wish(wanted: Wanted) -> None:
    """Raises ParameterError where a column of weights is asked for, and none at the same time."""
    if wanted.weight is not None and wanted.unweighted:
        raise ParameterError(
            f"The weights are to be those of {wanted.weight!r} (weight) and to be left alone "
            "(unweighted): leave out one of the two."
        )


def usual_id_column(names: Sequence[str]) -> str | None:
    """The column whose name says that it holds the ids of nodes: id before node, and so on."""
    by_name = {name.strip().lower(): name for name in reversed(names)}
    return next((by_name[usual] for usual in IDS if usual in by_name), None)


def is_index(name: str) -> bool:
    """Whether a column has the name under which pandas writes an index that has none."""
    return INDEX.fullmatch(name.strip().lower()) is not None


def left_numbers(
    names: Sequence[str], numeric: Sequence[float], columns: EdgeColumns, wanted: Wanted
) -> str | None:
    """What to tell of numbers that might have been meant as weights; None if there are none."""
    if columns.weight is not None or wanted.unweighted:
        return None
    left = [
        name
        for at, name in enumerate(names)
        if numeric[at] and at not in columns and not is_index(name)
    ]
    if not left:
        return None
    return (
        f"No weights are used, though {' and '.join(map(repr, left[:3]))} would be numbers: "
        f"--weight {quote(left[0])} takes them, --unweighted says that this is meant."
    )


def taken_by_place(names: Sequence[str], columns: EdgeColumns, wanted: Wanted) -> str | None:
    """What to tell of columns that neither a caller nor a name chose; None if there are none.

    Of two columns, there is no other choice.
    """
    if sum(not is_index(name) for name in names) < 3:
        return None
    pairs = wanted.pairs
    ends = zip(
        _named_ends("", names, len(names), columns.weight, wanted),
        columns[:2],
        pairs.roles,
        pairs.options,
        strict=True,
    )
    unsaid = [(names[at], role, option) for found, at, role, option in ends if found is None]
    if not unsaid:
        return None
    listed = ", ".join(names[:SHOWN]) + (", ..." if len(names) > SHOWN else "")
    taken = " and ".join(f"{name!r} as {role}" for name, role, _ in unsaid)
    options = " and ".join(option for _, _, option in unsaid)
    others = "others" if len(unsaid) > 1 else "another"
    return (
        f"Of the columns {listed}, {taken} {'are' if len(unsaid) > 1 else 'is'} taken by "
        f"place, since no name says so: {options} can name {others}."
    )


def name_both_ends(names: Sequence[str], pairs: PairKind = EDGES) -> bool:
    """Whether the names of columns say which two of them hold the pairs."""
    known = all(_known(usual, names, set()) is not None for usual in pairs.names)
    return known or bool(_ends(names, pairs))


def are_like_names(one: str, other: str) -> bool:
    """Whether two texts are a pair that columns are often called: user, item or gene_a, gene_b.

    Nodes may be called so as well: that is no proof, but worth a word.
    """
    words, others = _words(one), _words(other)
    return (
        len(words) == len(others) > 0
        and words[:-1] == others[:-1]
        and (words[-1], others[-1]) in (PAIRS if len(words) == 1 else (*PAIRS, ("a", "b")))
    )


def table_columns(place: str, schema: pa.Schema, wanted: Wanted) -> EdgeColumns:
    """The columns of an Arrow table that hold the edges; types that cannot are refused."""
    names = schema.names
    columns = choose_columns(
        place, names, len(names), [is_number(kind) for kind in schema.types], wanted
    )
    for role, position in columns._asdict().items():
        if position is None:
            continue
        name, kind = names[position], _plain(schema.types[position])
        if names[:2] == ["id", "embedding"] and wanted.target is None:
            raise FormatError(f"{place}: this is an embedding, a table of vectors and no edges.")
        if names.count(name) > 1:
            raise FormatError(f"{place}: two columns are called {name!r}; rename one of them.")
        if role == "weight" and not (is_number(kind) or pa.types.is_boolean(kind)):
            raise FormatError(
                f"{place}: the column {name!r} holds {kind}, but weights are numbers. Name another "
                "column with --weight, or ignore it with --unweighted."
            )
        if role != "weight" and not _holds_ids(kind):
            advice = " Cast it to integers first." if pa.types.is_floating(kind) else ""
            raise FormatError(
                f"{place}: the column {name!r} for the {role} holds {kind}; ids are integers or "
                f"texts.{advice}"
            )
    return columns


def id_array(array: pa.Array, place: Place) -> pa.Array:
    """The ids of a column that table_columns chose, as int64 or large_string; nulls are kept."""
    if isinstance(array, pa.ExtensionArray):
        return id_array(array.storage, place)
    if pa.types.is_dictionary(array.type):
        words = id_array(array.dictionary, place)  # a dictionary of views cannot be decoded
        return pa.DictionaryArray.from_arrays(array.indices, words).dictionary_decode()
    if not is_number(array.type):
        return array.cast(pa.large_string())
    try:
        return array.cast(pa.int64())
    except pa.ArrowInvalid as error:
        row, value = _first_beyond_64_bits(array)
        raise FormatError(
            f"{place(row)}: the id {value} is out of range; integer ids must fit 64 bits with a "
            "sign."
        ) from error


def weight_array(array: pa.Array) -> pa.Array:
    """The weights of a column that table_columns chose, as float64; nulls are kept."""
    if isinstance(array, pa.ExtensionArray):
        array = array.storage
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    return array.cast(pa.float64(), safe=False)


def is_number(kind: pa.DataType) -> bool:
    """Whether an Arrow type holds numbers."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _holds_ids(kind: pa.DataType) -> bool:
    if pa.types.is_decimal(kind):
        return bool(kind.scale == 0)
    texts = ("string", "large_string", "string_view", "binary", "large_binary", "null")
    return bool(pa.types.is_integer(kind)) or str(kind) in texts


def _plain(kind: pa.DataType) -> pa.DataType:
    if isinstance(kind, pa.BaseExtensionType):
        return _plain(kind.storage_type)
    return _plain(kind.value_type) if pa.types.is_dictionary(kind) else kind


def _first_beyond_64_bits(array: pa.Array) -> tuple[int, int]:
    limits = np.iinfo(np.int64)
    return next(
        (row, value)
        for row, value in enumerate(array.to_pylist())
        if value is not None and not limits.min <= value <= limits.max
    )


def _named_ends(
    place: str, names: Sequence[str] | None, count: int, weight: int | None, wanted: Wanted
) -> tuple[int | None, int | None]:
    """The columns of the pairs as asked for, else by their names; None where these say nothing."""
    roles, usual = wanted.pairs.roles, wanted.pairs.names
    source = _asked(place, roles[0], wanted.source, names, count)
    target = _asked(place, roles[1], wanted.target, names, count)
    known = (
        _known(usual[0], names, {target, weight}) if source is None else source,
        _known(usual[1], names, {source, weight}) if target is None else target,
    )
    if None in known:
        for one, other in _ends(names or [], wanted.pairs):
            if source in (None, one) and target in (None, other) and weight not in (one, other):
                return one, other
    return known


def _ends(names: Sequence[str], pairs: PairKind) -> list[tuple[int, int]]:
    """Columns whose names differ in a word for one end or the other; those of ids come first."""
    words = list(map(_words, names))
    found: dict[tuple[int, int], int] = {}
    for one, other in pairs.ends:
        for source, name in enumerate(words):
            turned = tuple(other if word == one else word for word in name)
            rest = "_".join(word for word in name if word != one)
            if turned != name and turned in words and TIMES.isdisjoint(name):
                rank = IDS.index(rest) if rest in IDS else len(IDS)
                found.setdefault((source, words.index(turned)), rank)
    return sorted(found, key=lambda ends: (found[ends], ends))


def _words(name: str) -> tuple[str, ...]:
    """The words of a name: those of srcName are src and name."""
    return tuple(word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name))


def _known(
    candidates: Sequence[str], names: Sequence[str] | None, taken: set[int | None]
) -> int | None:
    lowered = [name.strip().lower() for name in names or []]
    found = (lowered.index(name) for name in candidates if name in lowered)
    return next((position for position in found if position not in taken), None)


def _next(
    free: list[int],
    place: str,
    names: Sequence[str] | None,
    count: int,
    wanted: Wanted,
    behind: int = -1,
) -> int:
    if not free:
        columns = ", ".join(names) if names else f"{count} columns without names"
        needs = f"{wanted.pairs.one} needs two"
        raise FormatError(f"{place}: there is no column left, and {needs} ({columns}).")
    found = next((at for at in free if at > behind), free[0])
    free.remove(found)
    return found


def _unlike(
    place: str,
    names: Sequence[str] | None,
    columns: tuple[int, int],
    numeric: Sequence[float],
    wanted: Wanted,
) -> FormatError:
    one, other = (repr(names[at]) if names else f"column {at + 1}" for at in columns)
    kinds = ["numbers" if numeric[at] else "texts" for at in columns]
    source, target = wanted.pairs.roles
    return FormatError(
        f"{place}: by their place {one} and {other} would be {wanted.pairs.one}, but they hold "
        f"{kinds[0]} and {kinds[1]}. Name the right columns with --{source} and --{target}."
    )


def _asked(
    place: str, role: str, wanted: str | int | None, names: Sequence[str] | None, count: int
) -> int | None:
    if wanted is None:
        return None
    if names and wanted in names:
        return names.index(str(wanted))
    if str(wanted).isdecimal() and 1 <= int(wanted) <= count:
        return int(wanted) - 1
    have = f"the columns are {', '.join(names)}" if names else f"it has {count} columns, no header"
    raise FormatError(f"{place}: there is no column {wanted!r} for the {role}; {have}.")
