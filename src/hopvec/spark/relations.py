"""Relations on Spark: the pairs of every relation, weighted and merged as on one machine.

See hopvec.graph.relations for the formulas. Sums are taken in the same order as there, or rounded
to float32, so that the results are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812

from hopvec.embedding import Embedding
from hopvec.engine.plan import SLAB_COLUMNS
from hopvec.errors import GraphError
from hopvec.graph.relation_edges import MAX_RELATIONS, Relation, RelationEdges
from hopvec.graph.relation_options import RelationOptions
from hopvec.graph.relations import total_factors
from hopvec.methods import FastRP
from hopvec.methods.direction import DIRECTIONS, check_direction
from hopvec.methods.relations import check_part_columns, check_same_relations
from hopvec.spark.edges import EdgeFrame, key
from hopvec.spark.tables import NODE_BATCH, Tables


@dataclass(frozen=True)
class MergedRelations:
    """The relations of a graph, and the edges of the merged graph."""

    kinds: tuple[Relation, ...]
    """All that have a weight, in the order of their names."""
    directed: bool
    """Whether some relation is directed."""
    as_entries: bool
    """Whether each pair of the merged graph is one entry, as in a directed graph. An undirected
    graph that is balanced by node has both entries of an edge, since they differ."""
    balance: str
    edges: dict[str, int]
    """The number of distinct edges of each relation."""
    pairs: DataFrame
    """The columns matrix, u, v (keys) and weight: those of matrix 0, the merged graph, and if they
    are needed, of a matrix for each of the kinds."""

    @property
    def edge_count(self) -> int:
        """The number of distinct edges of all relations."""
        return sum(self.edges.values())

    def describe(self) -> dict[str, Any]:
        """Properties of the graph, as on one machine but without shares."""
        relations = {
            kind.name: {
                "edges": self.edges[kind.name],
                "weight": kind.weight,
                "direction": kind.direction,
            }
            for kind in self.kinds
        }
        return {"relations": relations, "relation_balance": self.balance}


def merge_relations(
    edges: EdgeFrame, tables: Tables, method: FastRP, like: Embedding | None
) -> MergedRelations | None:
    """Merge the relations of edges; None if there are none.

    Raises ParameterError if the columns cannot be divided among them, or those of `like` differ.
    """
    options = edges.relations
    if options is None:
        return None
    distinct = edges.frame.select("relation").distinct().limit(MAX_RELATIONS + 1)
    names = [row["relation"] for row in tables.run("check the edges", distinct.collect)]
    kinds, directed = check_relations(names, options, edges.directed, method)
    concat = method.relations == "concat"
    if concat and like is not None:
        check_same_relations("FastRP", [kind.name for kind in kinds], like)
    frame = edges.frame if edges.weighted else edges.frame.withColumn("weight", F.lit(1.0))
    frame = frame.filter("weight != 0").withColumn("weight", F.col("weight").cast("float"))
    pairs = _relation_pairs(frame, kinds, key("source"), key("target"))
    pairs = tables.write("relation pairs", pairs, stage="merge edges")
    counts = tables.run("merge edges", pairs.groupBy("number").count().collect)
    by_number = {row["number"]: row["count"] for row in counts}
    merged, as_entries = _merge_pairs(pairs, kinds, options, tables, directed=directed)
    merged = merged.select(F.lit(0).alias("matrix"), "u", "v", "weight")
    if concat:
        own = pairs.select((F.col("number") + 1).alias("matrix"), "u", "v", "weight")
        merged = merged.unionAll(own)
    return MergedRelations(
        kinds,
        directed,
        as_entries,
        options.balance,
        {kind.name: by_number.get(number, 0) for number, kind in enumerate(kinds)},
        tables.write("pairs", merged, stage="merge edges", batch=NODE_BATCH),
    )


def check_relations(
    names: Iterable[str], options: RelationOptions, directed: bool, method: FastRP
) -> tuple[tuple[Relation, ...], bool]:
    """The relations that have a weight, in the order of their names; and whether any is directed.

    `names` are those that edges have. Raises ParameterError if the columns cannot be divided among
    the relations.
    """
    names = sorted(names)
    if len(names) > MAX_RELATIONS:
        raise GraphError(
            f"There are more than {MAX_RELATIONS:,} relations, such as {names[0]!r}. Choose the "
            "column of relations with relation=."
        )
    edges = RelationEdges(options, directed)
    edges.find(names)
    edges.check()
    kinds = edges.kinds
    any_directed = any(kind.direction != "both" for kind in kinds if kind.name in names)
    if method.relations == "concat":
        parts = len(kinds) * len(DIRECTIONS[method.direction])
        step = SLAB_COLUMNS[method.precision]
        check_part_columns("FastRP", method._width, parts, step, len(kinds))
        method._check_degree_columns(parts)
    check_direction("FastRP", any_directed, method.direction)
    return kinds, any_directed


def _relation_pairs(
    frame: DataFrame, kinds: tuple[Relation, ...], u: Column, v: Column
) -> DataFrame:
    """The pairs of keys (u, v) of every relation, with their weight; u <= v if it is undirected."""
    directions = F.create_map(*_by_name({kind.name: kind.direction for kind in kinds}))
    ends = F.struct(u.alias("u"), v.alias("v"))
    swapped = F.struct(v.alias("u"), u.alias("v"))
    ordered = F.when(u <= v, ends).otherwise(swapped)
    number = F.create_map(*_by_name({kind.name: at for at, kind in enumerate(kinds)}))
    numbered = frame.withColumn("number", number[F.col("relation")]).filter("number is not null")
    direction = directions[F.col("relation")]
    pair = F.when(direction == "both", ordered).when(direction == "in", swapped).otherwise(ends)
    pairs = numbered.withColumn("pair", pair).select("number", "pair.u", "pair.v", "weight")
    weight = _ascending_sum("weight").cast("float")
    return pairs.groupBy("number", "u", "v").agg(weight.alias("weight"))


def _ascending_sum(column: str) -> Column:
    """Aggregates a sum in float64, in ascending order."""
    ascending = F.array_sort(F.collect_list(F.col(column).cast("double")))
    return F.aggregate(ascending, F.lit(0.0), lambda total, value: total + value)


def _merge_pairs(
    pairs: DataFrame,
    kinds: tuple[Relation, ...],
    options: RelationOptions,
    tables: Tables,
    *,
    directed: bool,
) -> tuple[DataFrame, bool]:
    """The pairs of the merged graph, and whether each of them is one entry."""
    entries = _entries(pairs, kinds)
    as_entries = directed or options.balance == "node"
    weighted = entries if as_entries else pairs
    if options.balance == "node":
        factors = _node_factors(entries, kinds)
        weighted = weighted.join(factors, ["number", "u"])
    else:
        numbers = _relation_factors(entries, kinds, options, tables)
        factor = F.create_map(*_by_name(numbers))[F.col("number")]
        weighted = weighted.withColumn("factor", factor)
    product = (F.col("weight").cast("double") * F.col("factor")).cast("float")
    total = _ascending_sum("weight").cast("float")
    merged = weighted.withColumn("weight", product).groupBy("u", "v").agg(total.alias("weight"))
    return merged, as_entries


def _entries(pairs: DataFrame, kinds: tuple[Relation, ...]) -> DataFrame:
    """All entries (u, v) of S_r: an undirected relation has two for each pair but loops."""
    both = [at for at, kind in enumerate(kinds) if kind.direction == "both"]
    mirrored = pairs.filter(F.col("number").isin(both) & F.expr("u != v"))
    swapped = mirrored.select("number", F.col("v").alias("u"), F.col("u").alias("v"), "weight")
    return pairs.unionAll(swapped)


def _relation_factors(
    entries: DataFrame, kinds: tuple[Relation, ...], options: RelationOptions, tables: Tables
) -> dict[int, float]:
    """f_r of "none" and "total"."""
    weights = np.array([kind.weight for kind in kinds])
    if options.balance == "none":
        return dict(enumerate(weights.tolist()))
    degrees = _degrees(entries).groupBy("number").agg(F.sum("degree").alias("total"))
    totals = np.zeros(len(kinds))
    for row in tables.run("check the edges", degrees.collect):
        totals[row["number"]] = np.float32(row["total"])
    return dict(enumerate(total_factors(weights, totals).tolist()))


def _degrees(entries: DataFrame) -> DataFrame:
    """d_ir, rounded to float32."""
    total = F.sum(F.col("weight").cast("double")).cast("float").cast("double")
    return entries.groupBy("number", "u").agg(total.alias("degree"))


def _node_factors(entries: DataFrame, kinds: tuple[Relation, ...]) -> DataFrame:
    """f_ir of "node" for every relation number and node u."""
    weight = F.create_map(*_by_name({at: kind.weight for at, kind in enumerate(kinds)}))
    degrees = _degrees(entries).withColumn("w", weight[F.col("number")])
    relations = F.array_sort(F.collect_list(F.struct("number", "w", "degree")))
    nodes = degrees.groupBy("u").agg(relations.alias("relations"))
    degree = F.aggregate(
        "relations", F.lit(0.0), lambda total, own: total + own["w"] * own["degree"]
    )
    total_weight = F.aggregate("relations", F.lit(0.0), lambda total, own: total + own["w"])
    nodes = nodes.select("u", degree.alias("d"), total_weight.alias("total"), F.inline("relations"))
    factor = F.expr("w * d / (total * degree)")
    return nodes.select("number", "u", factor.alias("factor"))


def _by_name(values: Mapping[Any, Any]) -> list[Column]:
    """The keys and values of a dict in turn, for create_map."""
    return [F.lit(item) for pair in values.items() for item in pair]
