"""AddFastRP: FastRP vectors as node features of PyTorch Geometric data."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hopvec.errors import GraphError, MissingExtraError, ParameterError
from hopvec.graph import Graph
from hopvec.graph.convert import from_torch_geometric
from hopvec.methods.fastrp import FastRP
from hopvec.methods.parameters import takes_parameters_of

if find_spec("torch_geometric") is None:
    raise MissingExtraError(
        "hopvec.torch_geometric needs PyTorch Geometric: pip install torch_geometric."
    )

import torch
from torch_geometric.data import Data, HeteroData

if TYPE_CHECKING:

    class BaseTransform:
        """The base class for type checkers, which need not have PyTorch Geometric."""

        def __call__(self, data: Any) -> Any:
            """Transform a shallow copy of the data."""

else:
    from torch_geometric.transforms import BaseTransform

__all__ = ["AddFastRP"]


@takes_parameters_of(FastRP)
class AddFastRP(BaseTransform):
    """Add the FastRP vector of every node to the data.

    Edges have the weights of `edge_weight`, or 1; `edge_attr` is not used. Nodes without edges get
    a zero vector. The node types of `HeteroData` are embedded together as one graph with all
    edges, and so their vectors are comparable.

    Vectors of different graphs are not comparable, not even those of the training and the test
    edges of `RandomLinkSplit`: transform the training data, and use its vectors for all.

    Parameters
    ----------
    attr_name : str or None, default="x"
        The node attribute that gets the vectors. They are appended to an existing "x", and replace
        any other attribute. None is the same as "x".
    features : str or None, default=None
        The attribute of `Data` with node features for FastRP, such as "x".
    directed : bool, default=False
        Whether the direction of edges matters. Undirected edges are stored in both directions.
    symmetrize : bool, default=False
        Whether to take every edge as undirected, if they are stored in one direction.
    **parameters
        The parameters of `hopvec.FastRP`, such as `dim=64`.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> from hopvec.torch_geometric import AddFastRP
    >>> data = Data(edge_index=torch.tensor([[0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2]]), num_nodes=4)
    >>> AddFastRP(dim=8)(data).x.shape
    torch.Size([4, 8])
    """

    def __init__(
        self,
        attr_name: str | None = "x",
        *,
        features: str | None = None,
        directed: bool = False,
        symmetrize: bool = False,
        **parameters: Any,
    ) -> None:
        self.attr_name = attr_name
        self.features = features
        self.directed = directed
        self.symmetrize = symmetrize
        self.method: FastRP = FastRP(**parameters)

    def forward(self, data: Data | HeteroData) -> Data | HeteroData:
        """Add the vectors to the data itself; calling the transform leaves the data unchanged.

        Parameters
        ----------
        data : Data or HeteroData
            The data of one graph.

        Returns
        -------
        Data or HeteroData
            The same object.

        Raises
        ------
        ParameterError
            If a parameter is invalid, or parameters contradict each other.
        GraphError
            If the edges are invalid, or neither symmetric nor declared by `directed` or
            `symmetrize`.

        Examples
        --------
        >>> import torch
        >>> from torch_geometric.data import Data
        >>> from hopvec.torch_geometric import AddFastRP
        >>> data = Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3)
        >>> AddFastRP("vector", dim=8, symmetrize=True).forward(data).vector.shape
        torch.Size([3, 8])
        """
        embedding = self.method.embed(self._graph(data), features=self._features(data))
        vectors = torch.from_numpy(embedding.vectors.copy())  # they are read-only
        parts = vectors.split([store.num_nodes for store in data.node_stores])
        for store, part in zip(data.node_stores, parts, strict=True):
            self._add(store, part.to(_device(data)))
        return data

    def _graph(self, data: Any) -> Graph:
        if not isinstance(data, Data | HeteroData):
            raise GraphError(f"AddFastRP: expected Data or HeteroData, got {type(data).__name__}.")
        one = _join_types(data) if isinstance(data, HeteroData) else data
        threads = self.method.threads
        return from_torch_geometric(one, self.directed, self.symmetrize, threads, "AddFastRP(...")

    def _features(self, data: Data | HeteroData) -> Any:
        """The node features as an array, if they were requested."""
        if self.features is None:
            return None
        if isinstance(data, HeteroData):
            raise ParameterError(
                "AddFastRP: features applies to Data only; the node types of HeteroData have "
                "different features."
            )
        if self.features not in data:
            raise ParameterError(
                f"AddFastRP: the data has no attribute features={self.features!r}."
            )
        return _columns(data, self.features).detach().cpu().numpy()

    def _add(self, store: Any, vectors: torch.Tensor) -> None:
        """Append vectors to x, or set another attribute."""
        name = self.attr_name or "x"
        if name != "x" or store.get("x") is None:
            store[name] = vectors
            return
        x = _columns(store, "x")
        kind = x.dtype if x.is_floating_point() else vectors.dtype  # integers cannot hold vectors
        store.x = torch.cat([x.to(kind), vectors.to(x.device, kind)], dim=-1)

    def __repr__(self) -> str:
        own = [f"attr_name={self.attr_name!r}"]
        own += [f"features={self.features!r}"] if self.features is not None else []
        own += [f"{name}=True" for name in ("directed", "symmetrize") if getattr(self, name)]
        parameters = repr(self.method).removeprefix("FastRP(").removesuffix(")")
        return f"AddFastRP({', '.join([*own, parameters] if parameters else own)})"


def _join_types(data: HeteroData) -> Data:
    """All node types as one, in their order, with the edges of all edge types."""
    first, nodes = {}, 0
    for name in data.node_types:
        if not isinstance(data[name].num_nodes, int):
            raise GraphError(f"The node type {name!r} has neither num_nodes nor features.")
        first[name] = nodes
        nodes += data[name].num_nodes
    ends, weights = [], []
    for source, relation, target in data.edge_types:
        edges = data[source, relation, target]
        if "edge_index" not in edges:
            raise GraphError(f"The edge type {(source, relation, target)} has no edge_index.")
        ends.append(edges.edge_index.cpu() + torch.tensor([[first[source]], [first[target]]]))
        ones = torch.ones(edges.edge_index.shape[1])
        weights.append(
            edges.edge_weight.detach().cpu().view(-1) if "edge_weight" in edges else ones
        )
    if not ends:
        raise GraphError("The data has no edges.")
    return Data(edge_index=torch.cat(ends, 1), edge_weight=torch.cat(weights), num_nodes=nodes)


def _columns(store: Any, name: str) -> torch.Tensor:
    """An attribute with one or several numbers per node, as a matrix."""
    values: torch.Tensor = store[name]
    if values.layout is not torch.strided:
        raise GraphError(
            f"AddFastRP: the attribute {name} is sparse: convert it with to_dense(), or choose "
            "another attr_name."
        )
    return values.view(-1, 1) if values.dim() == 1 else values


def _device(data: Data | HeteroData) -> torch.device:
    """The device of the edges."""
    device: torch.device = data.edge_stores[0].edge_index.device
    return device


def __dir__() -> list[str]:
    return sorted(__all__)
