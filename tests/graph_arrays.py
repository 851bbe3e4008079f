"""The contents of a graph in forms that tests compare."""


def entries_of(graph):
    """{(id, id): weight}, read off the arrays one by one."""
    ids = [graph.ids[int(row)].as_py() for row in graph.rows]
    weights = [1.0] * graph.entries if graph.weights is None else graph.weights.tolist()
    return {
        (ids[node], ids[graph.indices[k]]): weights[k]
        for node in range(graph.nodes)
        for k in range(graph.indptr[node], graph.indptr[node + 1])
    }


def arrays_of(graph):
    """The arrays of a graph as bytes."""
    weights = b"" if graph.weights is None else graph.weights.tobytes()
    arrays = (graph.indptr, graph.indices, graph.rows, graph.keys)
    return [*(array.tobytes() for array in arrays), weights, graph.ids.to_pylist()]
