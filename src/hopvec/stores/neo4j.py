"""neo4j:directory: a CSV file of vectors, and a Cypher script that loads it into Neo4j.

The script finds nodes by a property, or by the internal ids that APOC exports, sets the property
`embedding`, and creates a vector index for each label. It does not need a connection to the server.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple
from urllib.parse import parse_qsl

import pyarrow as pa

from hopvec.errors import FormatError, ParameterError
from hopvec.formats.atomic import atomic_write, old_files, part_files
from hopvec.formats.blocks import iter_blocks
from hopvec.formats.delimited import joined_columns
from hopvec.formats.destination import check_writable, create_directory
from hopvec.formats.text import lines
from hopvec.graph.id_encoder import parse_integer_ids
from hopvec.graph.node_types import count_types
from hopvec.progress import Progress

if TYPE_CHECKING:
    from hopvec.embedding import Embedding

LOCATION = "neo4j:<directory>"
INDEX = True
TABLES = False
VECTORS, SCRIPT = "vectors.csv", "load.cypher"
INTERNAL = "_id"  # as a property: the internal ids of Neo4j, as in files of APOC
BATCH_ROWS = 10_000  # of a transaction
FIRST_LINE = "// Written by hopvec."


class Location(NamedTuple):
    """A directory, and the properties that hold the ids of nodes, by label."""

    directory: Path
    properties: dict[str, str]
    """The label "" stands for all that are not named."""

    @property
    def files(self) -> tuple[Path, Path]:
        """The file of vectors and the script."""
        return self.directory / VECTORS, self.directory / SCRIPT


def check_location(location: str) -> None:
    """Raise FormatError unless both files can be written; a missing directory is created."""
    found = _parsed(location)
    if found.directory.is_file():
        raise FormatError(f"{found.directory}: this is a file. Name a directory.")
    for path in found.files if found.directory.exists() else []:
        check_writable(path)


def is_ours(location: str, table: str) -> bool | None:
    """Whether the script begins with the line that `write_table` writes.

    A killed process may have left the script of the old or the new vectors under another name only.
    """
    vectors, script = _parsed(location).files
    if not vectors.exists() and not script.exists():
        return None
    found = [script] if script.exists() else [*old_files(script), *part_files(script)]
    return any(map(_is_written_by_hopvec, found))


def _is_written_by_hopvec(script: Path) -> bool:
    try:
        return script.read_text(encoding="utf-8").startswith(FIRST_LINE)
    except (OSError, UnicodeDecodeError):
        return False


def write_table(
    embedding: Embedding, location: str, table: str, *, index: bool, progress: Progress
) -> None:
    """Write both files atomically; the script appears last.

    Zero vectors, which have no direction, and nodes without a type are left out; so are prefixes
    that distinguished the ids of different types. With `index`, the script creates vector indexes.
    """
    found = _parsed(location)
    labels = _labels(embedding, found)
    create_directory(found.directory)
    vectors, script = found.files
    are_integers = dict.fromkeys(labels, True)
    with atomic_write(script, vectors) as (script_file, vectors_file):
        _write_rows(vectors_file, embedding, labels, are_integers, progress)
        text = _script(embedding.dim, labels, are_integers, index=index)
        script_file.write(text.encode())


def _parsed(location: str) -> Location:
    """Parse directory?Person=personId&Movie=movieId, or directory?id for all labels."""
    directory, _, query = location.partition("?")
    properties = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        label, key = (name, value) if value else ("", name)
        properties[label] = key
    if not directory:
        raise ParameterError("export: neo4j: needs a directory, such as neo4j:import.")
    return Location(Path(directory), properties)


def _labels(embedding: Embedding, location: Location) -> dict[str, str]:
    """The labels of the nodes with the properties that hold their ids."""
    named = [label for label in location.properties if label]
    if embedding.types is None and len(named) != 1:
        raise ParameterError(
            "export: these nodes have no types, so name their label and the property with their "
            "ids: neo4j:directory?Person=id."
        )
    labels = named if embedding.types is None else list(count_types(embedding.types))
    for label in named:
        if label not in labels:
            raise ParameterError(
                f"export: there is no type {label!r}; the types are {', '.join(labels)}."
            )
    default = location.properties.get("", "id")
    return {label: location.properties.get(label, default) for label in labels}


def _write_rows(
    file: BinaryIO,
    embedding: Embedding,
    labels: dict[str, str],
    are_integers: dict[str, bool],
    progress: Progress,
) -> None:
    """Write id, label and vector of each node; note which labels have other ids than integers."""
    import pyarrow.compute as pc

    file.write(b"id,label,vector\n")
    prefixes = embedding.graph.get("prefixes", [])
    for (ids, *types), rows in iter_blocks(embedding, "float32", progress):
        names = types[0] if types else pa.repeat(pa.scalar(*labels, pa.large_string()), len(rows))
        kept = names.is_valid().to_numpy(zero_copy_only=False) & rows.any(axis=1)
        mask = pa.array(kept)
        plain, names = _without_prefixes(ids.filter(mask), prefixes), names.filter(mask)
        for label in labels:
            of_label = parse_integer_ids(plain.filter(pc.equal(names, label)))
            are_integers[label] &= bool(len(of_label) == 0 or pa.types.is_integer(of_label.type))
        for chunk in lines(joined_columns([plain, names], ","), rows[kept], ",", ";"):
            file.write(chunk)


def _without_prefixes(ids: pa.Array, prefixes: list[str]) -> pa.Array:
    """The ids as strings, without the prefixes that distinguish those of different types."""
    import pyarrow.compute as pc

    strings = ids.cast(pa.large_string())
    longest_first = sorted(filter(None, prefixes), key=len, reverse=True)
    if not longest_first:
        return strings
    pattern = "^(" + "|".join(map(re.escape, longest_first)) + ")"
    return pc.replace_substring_regex(strings, pattern, "")


def _script(dim: int, labels: dict[str, str], are_integers: dict[str, bool], *, index: bool) -> str:
    """The statements that load the vectors of each label, and create indexes."""
    head = [
        f"{FIRST_LINE} Copy {VECTORS} to the import directory of Neo4j 5.23 or newer, then run:",
        f"// cypher-shell -f {SCRIPT}",
    ]
    parts = ["\n".join(head)]
    for label, key in labels.items():
        parts.append(_load(label, key, are_integers[label]))
    if index:
        parts += [_create_index(label, dim) for label in labels]
    return "\n\n".join(parts) + "\n"


def _load(label: str, key: str, integers: bool) -> str:
    """Set the property of the nodes of a label; ids may be stored as strings or as integers."""
    if key == INTERNAL:
        node = f"(n:{_quoted(label)}) WHERE id(n) = toInteger(row.id)"
    elif integers:
        node = f"(n:{_quoted(label)}) WHERE n.{_quoted(key)} IN [row.id, toInteger(row.id)]"
    else:
        node = f"(n:{_quoted(label)} {{{_quoted(key)}: row.id}})"
    return "\n".join(
        [
            f"LOAD CSV WITH HEADERS FROM 'file:///{VECTORS}' AS row",
            f"WITH row WHERE row.label = {_string(label)}",
            "CALL (row) {",
            f"  MATCH {node}",
            "  CALL db.create.setNodeVectorProperty("
            "n, 'embedding', [x IN split(row.vector, ';') | toFloat(x)])",
            f"}} IN TRANSACTIONS OF {BATCH_ROWS} ROWS;",
        ]
    )


def _create_index(label: str, dim: int) -> str:
    options = f"`vector.dimensions`: {dim}, `vector.similarity_function`: 'cosine'"
    return "\n".join(
        [
            f"CREATE VECTOR INDEX {_quoted(f'{label}_embedding')} IF NOT EXISTS",
            f"FOR (n:{_quoted(label)}) ON (n.embedding)",
            f"OPTIONS {{indexConfig: {{{options}}}}};",
        ]
    )


def _quoted(name: str) -> str:
    """A label or a property in Cypher."""
    return "`" + name.replace("`", "``") + "`"


def _string(text: str) -> str:
    """A string in Cypher."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
