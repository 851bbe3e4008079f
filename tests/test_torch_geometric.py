"""AddFastRP with the real PyTorch Geometric; ./scripts/test-torch installs it and runs these."""

# ruff: noqa: E402  (imports below the check that PyTorch Geometric is installed)

import copy
import inspect
import pickle

import numpy as np
import pytest

REASON = "torch_geometric is not installed; ./scripts/test-torch tests it"
torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("torch_geometric", reason=REASON)

import torch_geometric.transforms as T  # noqa: N812
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.datasets import KarateClub
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv

import hopvec.torch_geometric
from hopvec import FastRP, Graph, GraphError, ParameterError
from hopvec.torch_geometric import AddFastRP
from planted_partition import planted_partition

PATH = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])


def karate():
    return KarateClub()[0]


def path(**attributes):
    return Data(edge_index=PATH, **{"num_nodes": 5, **attributes})


def bought(**attributes):
    """Three users and two items, in one direction."""
    data = HeteroData()
    data["user"].num_nodes = 3
    data["item"].x = torch.ones(2, 3)
    data["user", "buys", "item"].edge_index = torch.tensor([[0, 1, 2, 2], [0, 1, 1, 0]])
    for name, value in attributes.items():
        data["user", "buys", "item"][name] = value
    return data


def vectors(graph, **parameters):
    return FastRP(**parameters).embed(graph).vectors


def assert_same(tensor, expected):
    np.testing.assert_array_equal(tensor.numpy(), expected)


class TestAttribute:
    def test_without_x_the_vectors_become_x(self):
        data = AddFastRP(dim=8)(path())
        assert data.x.dtype == torch.float32
        assert_same(data.x, vectors(Graph.from_edges([0, 1, 2], [1, 2, 3], nodes=5), dim=8))

    @pytest.mark.parametrize("attr_name", ["x", None])
    def test_vectors_are_appended_to_x(self, attr_name):
        data = AddFastRP(attr_name, dim=8)(karate())
        assert_same(data.x[:, :34], karate().x.numpy())
        assert_same(data.x[:, 34:], vectors(karate(), dim=8))

    def test_another_attribute_is_set(self):
        data = AddFastRP(attr_name="position", dim=8)(karate())
        assert_same(data.position, vectors(karate(), dim=8))
        assert_same(data.x, karate().x.numpy())
        again = AddFastRP(attr_name="position", dim=4)(data)
        assert again.position.shape == (34, 4)

    def test_the_data_itself_is_not_changed(self):
        data = karate()
        before = copy.copy(data)
        AddFastRP(dim=8)(data)
        assert data.keys() == before.keys()
        assert data.x is before.x

    def test_one_number_per_node_is_a_column(self):
        data = AddFastRP(dim=8)(path(x=torch.arange(5.0)))
        assert data.x[:, 0].tolist() == [0, 1, 2, 3, 4]
        assert data.x.shape == (5, 9)

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (torch.float64, torch.float64),
            (torch.float16, torch.float16),
            (torch.int64, torch.float32),
            (torch.bool, torch.float32),
        ],
    )
    def test_x_keeps_its_type_unless_it_holds_integers(self, before, after):
        data = AddFastRP(dim=8)(path(x=torch.ones(5, 2, dtype=before)))
        assert data.x.dtype == after
        assert data.x[:, :2].eq(1).all()
        np.testing.assert_allclose(data.x[:, 2:].float(), vectors(path(), dim=8), atol=1e-3)

    def test_a_sparse_x_is_rejected(self):
        with pytest.raises(GraphError, match=r"the attribute x is sparse: .* another attr_name"):
            AddFastRP(dim=8)(path(x=torch.eye(5).to_sparse()))
        assert AddFastRP("v", dim=8)(path(x=torch.eye(5).to_sparse())).v.shape == (5, 8)

    def test_x_may_need_gradients(self):
        data = AddFastRP(dim=8)(path(x=torch.ones(5, 2, requires_grad=True)))
        assert data.x.requires_grad


class TestGraph:
    def test_weights_are_used(self):
        weight = torch.tensor([1.0, 1.0, 5.0, 5.0, 2.0, 2.0])
        weighted = Graph.from_edges([0, 1, 2], [1, 2, 3], [1, 5, 2], nodes=5)
        assert_same(AddFastRP(dim=8)(path(edge_weight=weight)).x, vectors(weighted, dim=8))

    def test_edge_attributes_are_not_weights(self):
        other = path(edge_attr=torch.rand(6, 1))
        assert_same(AddFastRP(dim=8)(other).x, vectors(path(), dim=8))

    def test_isolated_nodes_have_zero_vectors(self):
        data = AddFastRP(dim=8)(path(num_nodes=7))
        assert data.x.shape == (7, 8)
        assert not data.x[4:].any()

    def test_edges_in_one_direction_need_a_choice(self):
        one_way = Data(edge_index=torch.tensor([[0, 1, 2, 0], [1, 2, 3, 2]]), num_nodes=4)
        with pytest.raises(GraphError, match=r"AddFastRP\(\.\.\., directed=True\).*symmetrize"):
            AddFastRP(dim=8)(one_way)
        undirected = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 2])
        assert_same(AddFastRP(dim=8, symmetrize=True)(one_way).x, vectors(undirected, dim=8))
        directed = Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 2], directed=True)
        found = AddFastRP(dim=8, directed=True, direction="in")(one_way)
        assert_same(found.x, vectors(directed, dim=8, direction="in"))

    def test_an_attribute_may_be_the_features_of_fastrp(self):
        x = torch.arange(10.0).view(5, 2)
        data = AddFastRP("v", features="x", feature_weight=3.0, dim=8)(path(x=x))
        method = FastRP(dim=8, feature_weight=3.0)
        assert_same(data.v, method.embed(path(), features=x.numpy()).vectors)
        with pytest.raises(ParameterError, match="the data has no attribute features='age'"):
            AddFastRP(features="age")(path())

    def test_a_batch_is_one_graph(self):
        batch = AddFastRP(dim=8)(Batch.from_data_list([path(), path()]))
        assert batch.x.shape == (10, 8)

    @pytest.mark.parametrize(
        ("data", "message"),
        [
            (Data(x=torch.ones(3, 1)), "no edge_index.*ToSparseTensor"),
            (path(num_nodes=3), r"edge 5 \(2 - 3\) is out of range"),
            ({"edge_index": PATH}, "expected Data or HeteroData, got dict"),
            (HeteroData(), "no edges"),
        ],
    )
    def test_other_data_is_rejected(self, data, message):
        with pytest.raises(GraphError, match=message):
            AddFastRP(dim=8)(data)

    def test_a_sparse_adjacency_is_rejected_with_advice(self):
        with pytest.raises(GraphError, match="before that"):
            AddFastRP(dim=8)(T.ToSparseTensor()(karate()))


class TestNodeTypes:
    def test_they_are_embedded_as_one_graph(self):
        data = AddFastRP(dim=8)(T.ToUndirected()(bought()))
        joined = Graph.from_edges([0, 1, 2, 2], [3, 4, 4, 3], nodes=5)
        expected = vectors(joined, dim=8)
        assert_same(data["user"].x, expected[:3])
        assert_same(data["item"].x, np.hstack([np.ones((2, 3)), expected[3:]]).astype("f4"))

    def test_weights_are_used_and_1_elsewhere(self):
        data = bought(edge_weight=torch.tensor([2.0, 3.0, 4.0, 5.0]))
        data["user", "knows", "user"].edge_index = torch.tensor([[0], [1]])
        data = AddFastRP("v", dim=8, symmetrize=True)(data)
        joined = Graph.from_edges([0, 1, 2, 2, 0], [3, 4, 4, 3, 1], [2, 3, 4, 5, 1])
        expected = vectors(joined, dim=8)
        assert_same(data["user"].v, expected[:3])
        assert_same(data["item"].v, expected[3:])

    def test_one_direction_needs_a_choice(self):
        with pytest.raises(GraphError, match="symmetrize=True"):
            AddFastRP(dim=8)(bought())

    def test_features_are_rejected(self):
        with pytest.raises(ParameterError, match="features applies to Data only"):
            AddFastRP(features="x", symmetrize=True)(bought())

    def test_a_type_without_size_is_rejected(self):
        data = bought()
        del data["user"].num_nodes
        with pytest.raises(GraphError, match="node type 'user' has neither num_nodes nor"):
            AddFastRP(dim=8, symmetrize=True)(data)

    def test_embed_explains_what_to_do(self):
        for convert in (FastRP(dim=8).embed, Graph.from_torch_geometric):
            with pytest.raises(GraphError, match=r"HeteroData has several kinds .*AddFastRP"):
                convert(bought())


class TestParameters:
    def test_they_are_those_of_fastrp(self):
        own = inspect.signature(AddFastRP).parameters
        shared = inspect.signature(FastRP).parameters
        assert list(own) == ["attr_name", "features", "directed", "symmetrize", *shared]
        assert {name: own[name] for name in shared} == dict(shared)
        for name in own:
            assert f"\n    {name} : " in AddFastRP.__doc__
        assert "    Examples\n" in AddFastRP.__doc__
        assert "**parameters" not in AddFastRP.__doc__

    def test_invalid_ones_are_rejected_as_by_fastrp(self):
        with pytest.raises(ParameterError, match="FastRP: dim must be an integer from 1 to"):
            AddFastRP(dim=0)(path())
        with pytest.raises(TypeError, match="unexpected keyword argument 'dims'"):
            AddFastRP(dims=3)

    def test_those_of_a_preset(self):
        preset = FastRP.preset("best", dim=16)
        data = AddFastRP(**preset.get_params())(path())
        assert_same(data.x, preset.embed(path()).vectors)

    def test_the_repr_names_what_was_changed(self):
        assert repr(AddFastRP()) == "AddFastRP(attr_name='x')"
        changed = AddFastRP("v", features="x", symmetrize=True, dim=8, seed=3)
        text = "AddFastRP(attr_name='v', features='x', symmetrize=True, dim=8, seed=3)"
        assert repr(changed) == text
        assert_same(pickle.loads(pickle.dumps(AddFastRP(dim=8)))(path()).x, vectors(path(), dim=8))

    def test_the_module_shows_the_transform_only(self):
        assert dir(hopvec.torch_geometric) == ["AddFastRP"]


class TestInPyTorchGeometric:
    def test_transforms_are_composed(self):
        transform = T.Compose([T.ToUndirected(), AddFastRP("v", dim=8), T.AddSelfLoops()])
        data = transform(Data(edge_index=torch.tensor([[0, 1], [1, 2]]), num_nodes=3))
        assert data.v.shape == (3, 8)

    def test_a_dataset_transforms_on_access(self):
        dataset = KarateClub(transform=AddFastRP("v", dim=8))
        assert_same(dataset[0].v, vectors(karate(), dim=8))

    def test_worker_processes_of_a_loader_give_the_same_vectors(self):
        loader = DataLoader(KarateClub(transform=AddFastRP("v", dim=8)), num_workers=1)
        (data,) = loader
        assert_same(data.v, vectors(karate(), dim=8))

    def test_vectors_of_training_edges_serve_all_splits(self):
        split = T.RandomLinkSplit(is_undirected=True, num_val=0.1, num_test=0.2)
        training, _, test = split(karate())
        training = AddFastRP("v", dim=8)(training)
        test.v = training.v
        assert_same(test.v, vectors(training, dim=8))
        assert training.edge_index.shape[1] < karate().edge_index.shape[1]

    def test_a_network_learns_more_from_vectors_than_from_random_features(self):
        graph, _ = planted_partition(300)
        entries = graph.to_scipy().tocoo()
        edge_index = torch.from_numpy(np.stack(entries.coords).astype(np.int64))
        data = Data(edge_index=edge_index, y=torch.arange(300) % 3, num_nodes=300)
        torch.manual_seed(0)
        noise = accuracy(data, torch.randn(300, 32))
        assert accuracy(data, AddFastRP(dim=32)(data).x) > noise + 0.15


def accuracy(data, x):
    """The accuracy of one graph convolution, trained on a tenth of the nodes."""
    layer = GCNConv(x.shape[1], 3)
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.1)
    training = torch.arange(data.num_nodes) % 10 == 0
    for _ in range(50):
        optimizer.zero_grad()
        scores = layer(x, data.edge_index)
        torch.nn.functional.cross_entropy(scores[training], data.y[training]).backward()
        optimizer.step()
    found = layer(x, data.edge_index).argmax(dim=1)
    return (found == data.y)[~training].float().mean()
