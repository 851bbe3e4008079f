"""A researcher: from a GraphML file in networkx to a table of scores for a paper."""

import networkx as nx
import numpy as np
import pytest

import hopvec
from community_edges import community_edges

AUTHORS, FIELDS = 200, 4


@pytest.fixture
def citations(tmp_path):
    """A directed graph: citations within a field count 4, and many random ones count 1."""
    graph = nx.DiGraph()
    for author in range(1, AUTHORS + 1):
        graph.add_node(f"author {author}", field="ABCD"[author % FIELDS], h_index=author % 17)
    for weight, within, edges in ((1.0, 0, 1400), (4.0, 1, 500)):
        for one, other in community_edges(AUTHORS, FIELDS, edges, within):
            graph.add_edge(f"author {one}", f"author {other}", count=weight)
    path = tmp_path / "citations.graphml"
    nx.write_graphml(graph, path)
    return path


def macro_f1(embedding, labels):
    return hopvec.evaluate.classify(embedding, labels, shares=[0.1], shuffles=5).shares[0].macro_f1


def test_from_networkx_to_a_table_of_scores(citations, tmp_path):
    graph = nx.read_graphml(citations)

    # Nodes keyed by tuples, as after a relabeling, are refused with the line that converts them.
    keyed = nx.relabel_nodes(graph, {node: (graph.nodes[node]["field"], node) for node in graph})
    with pytest.raises(hopvec.GraphError, match=r"networkx\.relabel_nodes\(graph, str\)"):
        hopvec.Graph.from_networkx(keyed)
    assert hopvec.Graph.from_networkx(nx.relabel_nodes(keyed, str)).nodes == AUTHORS

    # So is a weight that no edge has, which would mean a graph without weights.
    with pytest.raises(hopvec.GraphError, match=r"weight='citations'; they have 'count'"):
        hopvec.Graph.from_networkx(graph, weight="citations")
    cited = hopvec.Graph.from_networkx(graph, weight="count")
    assert (cited.nodes, cited.edges, cited.directed) == (AUTHORS, len(graph.edges), True)
    one, other, data = next(iter(graph.edges(data=True)))
    assert cited.to_networkx()[one][other]["weight"] == data["count"]
    assert cited.to_networkx().is_directed()

    # Classification: weights are what distinguishes the fields.
    names, fields = zip(*graph.nodes(data="field"), strict=True)
    labels = hopvec.Labels.from_pairs(names, fields)
    method = hopvec.FastRP(dim=32, direction="both")
    weighted = macro_f1(method.embed(cited), labels)
    unweighted = macro_f1(method.embed(hopvec.Graph.from_networkx(graph)), labels)
    assert weighted > 90
    assert unweighted < 70
    chance = hopvec.Labels.from_pairs(names, np.random.default_rng(0).permutation(fields))
    assert macro_f1(method.embed(cited), chance) < 45

    # Links: three in four edges are random, so that no score can be high, but vectors help.
    held_out = hopvec.evaluate.hold_out(cited, share=0.2)
    assert held_out.training.edges + len(held_out.edges) == cited.edges
    training = method.embed(held_out.training)
    permuted = hopvec.Embedding(
        np.random.default_rng(0).permutation(training.vectors), training.ids
    )
    tables = [
        hopvec.evaluate.predict_links(vectors, held_out, operators=["cosine"]).to_pandas()
        for vectors in (training, permuted)
    ]
    auc, chance_auc = (table.set_index(["negatives", "operator"])["auc"] for table in tables)
    for negatives in ("uniform", "degree"):
        assert auc[negatives, "cosine"] > max(0.57, auc[negatives, "degree alone"])
        assert chance_auc[negatives, "cosine"] < 0.54

    # Tuning, resumed from its file, and the table of its trials.
    search = {
        "method": method,
        "space": {"beta": [-0.5, 0.0, 0.25], "spectrum": [0.5, 1.0]},
        "search": "grid",
        "study": tmp_path / "study.jsonl",
    }
    tuning = hopvec.tune(cited, labels, **search)
    trials = tuning.to_pandas()
    assert len(trials) == 6
    assert trials["score"].nunique() > 1
    assert trials["score"].max() == tuning.best.score >= tuning.untuned
    again = hopvec.tune(cited, labels, **search)
    assert again.to_pandas().equals(trials)  # read from the file: the times are the same
    assert macro_f1(tuning.method.embed(cited), tuning.unseen) > 80
