"""Which columns of a table hold the source, target, weight, relation and time of its edges.

All tables are handled here: text, Parquet, Arrow tables and Spark DataFrames, of edges, of labeled
pairs and of labels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from hopvec.errors import FormatError, GraphError, ParameterError

SOURCE_NAMES = (
    "source",
    "src",
    "from",
    "u",
    "head",
    "node1",
    "start",
    "source_id",
    "from_id",
    "id1",
    ":start_id",  # neo4j-admin
    "_start",  # APOC
)
TARGET_NAMES = (
    *("target", "dst", "to", "v", "tail", "node2", "end", "target_id", "to_id", "id2"),
    *(":end_id", "_end"),
)
ID_NAMES = ("id", "_id", "node", "name", "node_id", "nodes", "ids")
LABEL_NAMES = ("label", "labels", "class", "classes", "group", "category", "categories")
RELATION_NAMES = (":type", "_type", "relation", "relationship", "rel", "predicate", "type", "kind")
RELATION_WORDS = (("edge", "type"), ("rel", "type"), ("relation", "type"), ("relationship", "type"))
WEIGHT_NAMES = ("weight", "weights", "w", "value", "count", "strength", "score")
END_WORDS = (  # two names that differ only in these words are the ends: src_name and dst_name
    ("source", "target"),
    ("source", "destination"),
    ("source", "dest"),
    ("src", "dst"),
    ("src", "dest"),
    ("src", "tgt"),
    ("from", "to"),
    ("sender", "receiver"),
)
NEO4J_TYPE = re.compile(  # the end of a name in a header for neo4j-admin: weight:double
    r"(?<=.):(ID|LABEL|TYPE|byte|short|int|long|float|double|boolean|char|string|date|\w*time|point)"
    r"(\[\])?(\(.*\))?$",
    re.IGNORECASE,
)
NEO4J_ID = re.compile(r":ID(\([^()]*\))?$")  # personId:ID(Person), or :ID alone
NEO4J_SPACE = re.compile(r"\([^()]*\)$")  # the id space of :START_ID(Person)
TYPE_NAMES = (":label", "_labels")  # columns of labels of nodes: neo4j-admin, APOC
NEO4J_END = re.compile(r":(?:START|END)_ID\(([^()]*)\)")
NOT_WEIGHTS = {"id", "ids", "key", "uuid", "index", "zip", "phone", "code"}  # Interaction ID
PEOPLE = frozenset(
    (
        *("user", "customer", "client", "buyer", "shopper", "member", "visitor"),
        *("viewer", "reader", "listener", "patient", "student", "author", "person"),
        *("player", "subscriber", "account"),
    )
)
THINGS = frozenset(
    (
        *("item", "product", "movie", "film", "show", "book", "song", "track", "artist"),
        *("album", "playlist", "paper", "article", "page", "post", "video", "game"),
        *("app", "restaurant", "hotel", "business", "venue", "place", "course", "tag"),
        *("category", "topic", "store", "shop", "drug", "disease", "gene", "protein"),
        *("document", "query", "ad", "job", "recipe", "package", "file", "tracker"),
        "site",
    )
)
TIME_WORDS = {"date", "day", "month", "time", "timestamp", "ts", "year"}  # from_date is not a node
AMBIGUOUS_PAIRS = (  # could be names of columns, but also names of nodes
    ("user", "item"),
    ("user", "friend"),
    ("user", "product"),
    ("user", "movie"),
    ("customer", "item"),
    ("customer", "product"),
    ("follower", "followed"),
    ("follower", "followee"),
    ("citing", "cited"),
    ("parent", "child"),
    ("caller", "callee"),
    ("author", "paper"),
    ("person", "friend"),
)

MAX_LISTED = 6  # column names in a warning
PANDAS_INDEX = re.compile(r"|unnamed: 0|__index_level_\d+__")


class PairKind(NamedTuple):
    """What each row of a table holds: an edge (two nodes), or a node and its label."""

    one: str
    """Singular, with its article: "an edge"."""
    many: str
    """Plural: "edges"."""
    roles: tuple[str, str]
    """What the two columns are called in messages."""
    names: tuple[Sequence[str], Sequence[str]]
    """The usual names of the two columns."""
    listed: str
    """What follows the node on a line of an adjacency list."""
    arguments: tuple[str, str] | None
    """The arguments of the reader that choose the two columns; None if they are found by name."""
    weight_names: Sequence[str] = WEIGHT_NAMES
    """The usual names of the column of numbers."""
    same_type: bool = True
    """Whether both columns hold the same type of values."""
    end_words: Sequence[tuple[str, str]] = ()
    """Pairs of words in which two otherwise equal column names may differ."""


EDGES = PairKind(
    one="an edge",
    many="edges",
    roles=("source", "target"),
    names=(SOURCE_NAMES, TARGET_NAMES),
    listed="neighbors",
    arguments=("source", "target"),
    end_words=(*END_WORDS, *AMBIGUOUS_PAIRS),
)
LINKS = EDGES._replace(
    one="a pair", many="pairs", arguments=None, weight_names=("label", "y", *WEIGHT_NAMES)
)
LABELED = PairKind(
    one="a label",
    many="labels",
    roles=("id", "label"),
    names=(ID_NAMES, LABEL_NAMES),
    listed="labels",
    arguments=("id_column", "label_column"),
    same_type=False,
)


@dataclass(frozen=True)
class ColumnSpec:
    """The columns that the user requested, each by name or by number, counted from 1.

    A column that is None is chosen by name, then by position.
    """

    source: str | int | None = None
    target: str | int | None = None
    weight: str | int | None = None
    unweighted: bool = False
    """Whether to ignore a column of weights."""
    pairs: PairKind = EDGES
    """What the rows of the table hold."""
    relation: str | int | None = None
    """The column of relations; None if there is none. It is never chosen by name."""
    time: str | int | None = None
    """The column of times, likewise."""

    def __post_init__(self) -> None:
        if self.weight is not None and self.unweighted:
            raise ParameterError(
                f"weight={self.weight!r} and unweighted=True contradict each other: leave one of "
                "them out."
            )


class EdgeColumns(NamedTuple):
    """The columns that were chosen: their positions in the table, counted from 0."""

    source: int
    target: int
    weight: int | None
    relation: int | None = None
    time: int | None = None

    def names(self, columns: Sequence[str]) -> dict[str, str]:
        """The names of the chosen columns by role."""
        positions = self._asdict().items()
        return {role: columns[position] for role, position in positions if position is not None}


def choose_columns(
    location: str,
    names: Sequence[str] | None,
    count: int,
    numeric: Sequence[float],
    spec: ColumnSpec,
    *,
    header_found: bool = False,
) -> EdgeColumns:
    """Choose the requested columns, else columns by name, else by position.

    `names` is None if the table has no column names; if `header_found`, they are the first line of
    a text, which may be wrong. `numeric` is the fraction of numbers in each column. By position,
    the target is to the right of the source. In a table of three columns without names, the third
    is the weight if it is numeric. An index that pandas wrote is used only if it is requested. If
    there are three or more columns, a numeric column and a column of strings are never paired by
    position.
    """
    if count < 2:
        found = f" ({', '.join(names)})" if names else ""
        raise FormatError(f"{location}: {spec.pairs.one} needs two columns, found {count}{found}.")
    weight = _requested(location, "weight", spec.weight, names, count)
    relation = _requested(location, "relation", spec.relation, names, count)
    time = _requested(location, "time", spec.time, names, count)
    _check_weight(location, weight, names, spec, header_found)
    for role, at in (("weight", weight), ("relation", relation), ("time", time)):
        _check_is_no_end(location, role, at, names, spec)
    source, target = _named_ends(location, names, count, {weight, relation, time}, spec)
    taken = {source, target, weight, relation, time}
    taken |= {at for at, name in enumerate(names or []) if is_pandas_index(name)}
    free = [at for at in range(count) if at not in taken]
    by_position = source is None or target is None
    if source is None:
        source = _take(free, location, names, count, spec)
    if target is None:
        target = _take(free, location, names, count, spec, after=source)
    if by_position and names and spec.weight is not None:
        _check_is_no_weight(location, names, (source, target), spec)
    if (
        by_position
        and spec.pairs.same_type
        and count > 2
        and {numeric[source], numeric[target]} == {0, 1}
    ):
        raise _different_types(location, names, (source, target), numeric, spec)
    if weight is None and not spec.unweighted:
        weight = _find(spec.pairs.weight_names, names, {source, target, relation, time})
        others = count - (relation is not None) - (time is not None)
        if weight is None and names is None and others == 3 and numeric[free[0]]:
            weight = free[0]
    columns = EdgeColumns(source, target, weight, relation, time)
    _check_distinct(location, columns, spec.pairs)
    return columns


def _check_distinct(location: str, columns: EdgeColumns, pairs: PairKind) -> None:
    """Raise FormatError for a column that is claimed for two roles."""
    roles = dict(zip(EdgeColumns._fields, (*pairs.roles, *EdgeColumns._fields[2:]), strict=True))
    claimed: dict[int, str] = {}
    for field, at in columns._asdict().items():
        if at is None:
            continue
        if at in claimed:
            raise FormatError(
                f"{location}: {claimed[at]} and {roles[field]} are the same column, {at + 1}."
            )
        claimed[at] = roles[field]


def _check_is_no_weight(
    location: str, names: Sequence[str], ends: tuple[int, int], spec: ColumnSpec
) -> None:
    """Raise FormatError if an end, chosen by position, has the name of a weight.

    This happens if another column was requested as the weight by mistake.
    """
    for at, role, given in zip(ends, spec.pairs.roles, (spec.source, spec.target), strict=True):
        if given is None and _plain(names[at]) in spec.pairs.weight_names:
            advice = _how_to_choose("the columns", spec.pairs, (0, 1))
            raise FormatError(
                f"{location}: with weight={spec.weight!r}, the column {names[at]!r} would be the "
                f"{role}, although its name is that of a weight. {advice}"
            )


def _check_weight(
    location: str,
    weight: int | None,
    names: Sequence[str] | None,
    spec: ColumnSpec,
    header_found: bool,
) -> None:
    """Raise FormatError for the number of a column, which is probably a slip."""
    if weight is None or not names:
        return
    if str(spec.weight).isdecimal() and str(spec.weight) not in names:
        no_header = f", or header=False if the first line is {spec.pairs.one}" * header_found
        raise FormatError(
            f"{location}: weight={spec.weight} is the number of a column, but the columns have "
            f"names: pass weight={names[weight]!r} for this one (the columns are "
            f"{', '.join(names)}){no_header}."
        )


def _check_is_no_end(
    location: str, role: str, at: int | None, names: Sequence[str] | None, spec: ColumnSpec
) -> None:
    """Raise FormatError if a column that is requested for a role has the usual name of an end."""
    if at is None or not names:
        return
    requested = (spec.source, spec.target)
    for end, usual, given in zip(spec.pairs.roles, spec.pairs.names, requested, strict=True):
        if given is None and _plain(names[at]) in usual:
            raise FormatError(
                f"{location}: the column {names[at]!r} is requested as the {role}, but its name is "
                f"that of the {end}. Choose the {end} as well if this is intended."
            )


def differ_in_kind(one: str, other: str) -> bool:
    """Whether two columns name different kinds of nodes: user_id and item_id.

    The id spaces of Neo4j are kinds: :START_ID(Person) and :END_ID(Movie).
    """
    spaces = [NEO4J_END.fullmatch(name.strip()) for name in (one, other)]
    if spaces[0] and spaces[1]:
        return bool(spaces[0][1] != spaces[1][1])
    (noun, *more), (other_noun, *others) = map(_nouns, (one, other))
    if more or others or noun == other_noun:
        return False
    kinds = {noun, other_noun}
    return bool(kinds & THINGS) and kinds <= PEOPLE | THINGS


def shared_ids_error(
    location: str, names: Sequence[str], example: object, remedy: str
) -> GraphError:
    """The error for ids that occur as two kinds of nodes; the remedy keeps them apart."""
    return GraphError(
        f"{location}: {names[0]!r} and {names[1]!r} are two kinds of nodes by their names, but "
        f"share ids, such as {example!r}. {remedy} to keep them apart, or pass one_kind=True if "
        "the same id is the same node."
    )


def _nouns(name: str) -> tuple[str, ...]:
    """The words of a name, singular, without those for an id; one empty word if none remains."""
    words = [word for word in _words(name) if word not in ("id", "ids", "no", "key", "name")]
    singular = [word if word in THINGS else word.removesuffix("s") for word in words]
    return tuple(singular) or ("",)


def unused_numbers_warning(
    names: Sequence[str], numeric: Sequence[float], columns: EdgeColumns, spec: ColumnSpec
) -> str | None:
    """A warning about numeric columns that may have been meant as weights; None if there are none.

    No warning is given if the caller requested an unweighted graph.
    """
    if columns.weight is not None or spec.unweighted:
        return None
    unused = [
        name
        for at, name in enumerate(names)
        if numeric[at]
        and at not in columns
        and not is_pandas_index(name)
        and NOT_WEIGHTS.isdisjoint(_words(name))
    ]
    if not unused:
        return None
    return (
        f"No column is used as the weight, although {' and '.join(map(repr, unused[:3]))} "
        f"{'is' if len(unused) == 1 else 'are'} numeric: pass weight={unused[0]!r} to use it as "
        "the weight, or unweighted=True if this is intended."
    )


def chosen_by_position_warning(
    names: Sequence[str], columns: EdgeColumns, spec: ColumnSpec
) -> str | None:
    """A warning about columns that neither the caller nor a name chose; None if there are none.

    A table of two columns leaves no other choice, so there is no warning.
    """
    if sum(not is_pandas_index(name) for name in names) < 3:
        return None
    ends = zip(
        _named_ends("", names, len(names), set(columns[2:]), spec),
        columns[:2],
        (0, 1),
        strict=True,
    )
    by_position = [(names[at], end) for found, at, end in ends if found is None]
    if not by_position:
        return None
    listed = ", ".join(names[:MAX_LISTED]) + (", ..." if len(names) > MAX_LISTED else "")
    chosen = " and ".join(f"{name!r} as the {spec.pairs.roles[end]}" for name, end in by_position)
    several = len(by_position) > 1
    others, their, them = ("others", "their", "them") if several else ("another", "its", "it")
    advice = _how_to_choose(others, spec.pairs, [end for _, end in by_position])
    return (
        f"Using {chosen} because of {their} position, since no column name identifies {them} (the "
        f"columns are {listed}). {advice}"
    )


def find_id_column(names: Sequence[str]) -> str | None:
    """The column of node ids; None if no name identifies it.

    It is marked by Neo4j's :ID, or has the first of the usual names, ID_NAMES, or is the only one
    that ends in "id", such as personId.
    """
    marked = [name for name in names if NEO4J_ID.search(name.strip())]
    if {"_id", "_labels"} <= {*names}:  # APOC
        marked.append("_id")
    if marked:
        return marked[0]
    by_name = {name.strip().lower(): name for name in reversed(names)}
    found = next((by_name[usual] for usual in ID_NAMES if usual in by_name), None)
    ending = [name for name in names if _words(name)[1:] and _words(name)[-1] == "id"]
    return ending[0] if found is None and len(ending) == 1 else found


def id_space(name: str) -> str | None:
    """The id space in the name of a column for neo4j-admin: Person for :START_ID(Person).

    Ids are unique within a space only. None if the name has none.
    """
    found = re.search(r":(START_ID|END_ID|ID)\(([^()]+)\)$", name.strip(), re.IGNORECASE)
    return found[2] if found else None


def find_type_column(names: Sequence[str]) -> str | None:
    """The column of labels of nodes that Neo4j writes; None if there is none."""
    return next((name for name in names if name.strip().lower() in TYPE_NAMES), None)


def find_relation_column(names: Sequence[str]) -> str | None:
    """The column of relations by its name; None if there is none."""
    usual = [name for name in names if name.strip().lower() in RELATION_NAMES]
    return next(iter([*usual, *(name for name in names if _words(name) in RELATION_WORDS)]), None)


def find_time_column(names: Sequence[str]) -> str | None:
    """The column of times by its name, such as ts or created_at; None if there is none."""
    return next(
        (
            name
            for name in names
            if not TIME_WORDS.isdisjoint(_words(name)) or _words(name)[-1:] == ("at",)
        ),
        None,
    )


def is_pandas_index(name: str) -> bool:
    """Whether this is the name under which pandas writes an unnamed index."""
    return PANDAS_INDEX.fullmatch(name.strip().lower()) is not None


def name_both_ends(names: Sequence[str], pairs: PairKind = EDGES) -> bool:
    """Whether the column names identify both columns of a pair, and cannot be names of nodes."""
    both = all(_find(usual, names, set()) is not None for usual in pairs.names)
    sure = [words for words in pairs.end_words if words not in AMBIGUOUS_PAIRS]
    return both or bool(_ends_by_words(names, pairs._replace(end_words=sure)))


def name_edges(names: Sequence[str]) -> bool:
    """Whether column names are those of edges: source and target, user_id and item_id."""
    ends = names[:2]
    return name_both_ends(names) or look_like_column_names(*ends) or differ_in_kind(*ends)


def look_like_column_names(one: str, other: str) -> bool:
    """Whether two strings are a pair of common column names: user, item or gene_a, gene_b.

    Nodes may have such names too, so this is a hint, not a proof.
    """
    words, others = _words(one), _words(other)
    pairs = AMBIGUOUS_PAIRS if len(words) == 1 else (*AMBIGUOUS_PAIRS, ("a", "b"))
    return (
        len(words) == len(others) > 0
        and words[:-1] == others[:-1]
        and (words[-1], others[-1]) in pairs
    )


def _named_ends(
    location: str,
    names: Sequence[str] | None,
    count: int,
    taken: set[int | None],
    spec: ColumnSpec,
) -> tuple[int | None, int | None]:
    """The two columns of a pair, as requested or by name; None for one that has neither.

    `taken` are the columns with another role.
    """
    source = _requested(location, spec.pairs.roles[0], spec.source, names, count)
    target = _requested(location, spec.pairs.roles[1], spec.target, names, count)
    found = (
        _find(spec.pairs.names[0], names, {target} | taken) if source is None else source,
        _find(spec.pairs.names[1], names, {source} | taken) if target is None else target,
    )
    if None in found:
        for one, other in _ends_by_words(names or [], spec.pairs):
            if source in (None, one) and target in (None, other) and not {one, other} & taken:
                return one, other
    return found


def _ends_by_words(names: Sequence[str], pairs: PairKind) -> list[tuple[int, int]]:
    """Columns whose names differ only in a word for source and target; columns of ids first."""
    words = list(map(_words, names))
    ranks: dict[tuple[int, int], int] = {}
    for one, other in pairs.end_words:
        for source, name in enumerate(words):
            swapped = tuple(other if word == one else word for word in name)
            rest = "_".join(word for word in name if word != one)
            if swapped != name and swapped in words and TIME_WORDS.isdisjoint(name):
                rank = ID_NAMES.index(rest) if rest in ID_NAMES else len(ID_NAMES)
                ranks.setdefault((source, words.index(swapped)), rank)
    return sorted(ranks, key=lambda ends: (ranks[ends], ends))


def _plain(name: str) -> str:
    """A name in lower case, without the type and the id space that Neo4j's headers append."""
    name = NEO4J_SPACE.sub("", name.strip()).lower()
    return name if name in (":start_id", ":end_id") else NEO4J_TYPE.sub("", name)


def _words(name: str) -> tuple[str, ...]:
    """The words of a name in lower case: srcName -> src, name."""
    return tuple(word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+|\d+", name))


def _find(
    candidates: Sequence[str], names: Sequence[str] | None, taken: set[int | None]
) -> int | None:
    """The position of the first candidate among the names that is not taken."""
    lowered = [_plain(name) for name in names or []]
    found = (lowered.index(name) for name in candidates if name in lowered)
    return next((position for position in found if position not in taken), None)


def _take(
    free: list[int],
    location: str,
    names: Sequence[str] | None,
    count: int,
    spec: ColumnSpec,
    after: int = -1,
) -> int:
    """Remove the first free column to the right of `after`, else the first, and return it."""
    if not free:
        columns = ", ".join(names) if names else f"{count} columns without names"
        raise FormatError(
            f"{location}: {spec.pairs.one} needs two columns, and none is left ({columns})."
        )
    found = next((at for at in free if at > after), free[0])
    free.remove(found)
    return found


def _different_types(
    location: str,
    names: Sequence[str] | None,
    columns: tuple[int, int],
    numeric: Sequence[float],
    spec: ColumnSpec,
) -> FormatError:
    one, other = (repr(names[at]) if names else f"column {at + 1}" for at in columns)
    kinds = ["numbers" if numeric[at] else "strings" for at in columns]
    advice = _how_to_choose("the columns", spec.pairs, (0, 1))
    return FormatError(
        f"{location}: by position, {one} and {other} would be {spec.pairs.one}, but they hold "
        f"{kinds[0]} and {kinds[1]}. {advice}"
    )


def _how_to_choose(what: str, pairs: PairKind, ends: Sequence[int]) -> str:
    """Advice on choosing columns for some of the two ends of a pair."""
    if pairs.arguments is None:
        return f"Rename the columns to {' and '.join(pairs.roles)}."
    return f"Choose {what} with {' and '.join(f'{pairs.arguments[end]}=' for end in ends)}."


def _requested(
    location: str, role: str, column: str | int | None, names: Sequence[str] | None, count: int
) -> int | None:
    if column is None:
        return None
    if names and column in names:
        return names.index(str(column))
    plain = [_plain(name) for name in names or []]
    if plain.count(str(column).lower()) == 1 and not str(column).isdecimal():
        return plain.index(str(column).lower())
    if str(column).isdecimal() and 1 <= int(column) <= count:
        return int(column) - 1
    have = f"the columns are {', '.join(names)}" if names else f"it has {count} columns, no header"
    raise FormatError(f"{location}: there is no column {column!r} for the {role}; {have}.")
