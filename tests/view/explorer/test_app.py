"""The API of the explorer."""

import explored
import numpy as np


def test_about(client):
    assert client.get("/api/about").json() == {
        "nodes": 300,
        "edges": 887,
        "directed": False,
        "bipartite": False,
        "links": {"score": "cosine", "popularity": 0.1},
        "labeled": "label",
        "columns": ["label", "degree"],
        "embeddings": [{"name": "planted", "dim": 8, "method": "Planted"}],
    }


def test_arrays_arrive_as_little_endian_bytes(client, exploration):
    plane = np.frombuffer(client.get("/api/positions/0").content, "<f4").reshape(-1, 2)
    assert np.array_equal(plane, exploration._sides[0].positions)
    codes = np.frombuffer(client.get("/api/columns/0/codes").content, "<u2")
    assert np.array_equal(codes, exploration._columns[0].codes)
    members = np.frombuffer(client.get("/api/columns/0/members/1").content, "<u4")
    assert np.array_equal(members, exploration._columns[0].members(1))


def test_a_legend(client):
    assert client.get("/api/columns/0").json()["classes"] == ["blue", "green", "red"]
    assert client.get("/api/columns/1").json()["kind"] == "number"


def test_an_unknown_class_has_no_members(client):
    assert client.get("/api/columns/0/members/99").content == b""
    assert client.get("/api/columns/1/members/0").content == b""


def test_names_are_completed(client):
    found = client.get("/api/complete", params={"text": "NODE-1"}).json()
    assert len(found) == 12
    assert found[0] == {"node": 10, "name": "node-10", "label": "green", "degree": 6}
    assert client.get("/api/complete").json() == []


def test_names_of_nodes(client):
    found = client.get("/api/names", params={"nodes": "7,0"}).json()
    assert [card["name"] for card in found] == ["node-7", explored.HOSTILE[0]]


def test_a_node_has_neighbors_likely_links_and_edges(client, exploration):
    found = client.get("/api/nodes/17", params={"k": 3}).json()
    assert found == exploration._neighborhood(17, 3)
    assert [len(found["near"][0]), len(found["links"])] == [3, 3]
    fields = {"node", "name", "label", "degree", "score", "common"}
    assert all(set(card) == fields for card in found["links"])


def test_an_unknown_name_is_404(client):
    assert client.get("/api/find", params={"name": "nobody"}).status_code == 404


def test_numbers_of_any_length_are_refused(client):
    for digits in (1, 11, 12, 4299, 4301, 20_000):
        number = "9" * digits
        for path in ("positions/{}", "columns/{}", "columns/{}/codes", "nodes/{}"):
            assert client.get(f"/api/{path.format(number)}").status_code in (200, 404)
        assert client.get(f"/api/columns/0/members/{number}").status_code in (200, 404)
        assert client.get("/api/nodes/0", params={"k": number}).status_code in (200, 400)
        assert client.get("/api/names", params={"nodes": number}).status_code in (200, 400)
