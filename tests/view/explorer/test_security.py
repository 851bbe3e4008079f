"""The security of the explorer: allowed requests and headers."""

from http.client import HTTPConnection

import explored
import pytest
from starlette.testclient import TestClient

from hopvec.view.explorer.guard import HEADER, PLAIN
from hopvec.view.explorer.server import LOCAL, guarded

PORT = 8765
ABOUT = "/api/about"
PATHS = ["/", "/static/main.js", ABOUT]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "host",
    ["evil.example", f"evil.example:{PORT}", LOCAL, f"{LOCAL}:1", f"{LOCAL}.evil.example", ""],
)
def test_a_foreign_host_is_400(client, path, host):
    assert client.get(path, headers={"Host": host}).status_code == 400


@pytest.mark.parametrize("host", [f"{LOCAL}:{PORT}", f"localhost:{PORT}", f"LocalHost:{PORT}"])
def test_this_machine_is_allowed(client, host):
    assert client.get(ABOUT, headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site", "anything"])
@pytest.mark.parametrize("path", PATHS)
def test_a_request_from_another_site_is_403(client, path, site):
    assert client.get(path, headers={"Sec-Fetch-Site": site}).status_code == 403


def test_a_link_from_another_site_opens_the_page_and_nothing_else(client):
    followed = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=followed).status_code == 200
    assert client.get(ABOUT, headers=followed).status_code == 403


@pytest.mark.parametrize("value", [None, "", "other"])
def test_the_api_without_its_header_is_403(client, value):
    client = TestClient(client.app, base_url=str(client.base_url))
    headers = {} if value is None else {HEADER: value}
    paths = [
        ABOUT,
        "/api/nodes/1",
        "/api/complete?text=n",
        "/api/positions/0",
        "/api/columns/0/codes",
    ]
    assert {client.get(path, headers=headers).status_code for path in paths} == {403}


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e%2f%2e%2e%2f%2e%2e%2fetc/passwd",
        "/static//etc/passwd",
        "/static/",
        "/static",
        "/app.py",
        "/..%2f..%2fetc%2fpasswd",
        "/static/main.js%00.html",
        "/static/..\\app.py",
        "/api/positions/-1",
        "/api/positions/1",
        "/api/columns/9",
        "/api/nodes/300",
        "/api/nodes/1e3",
    ],
)
def test_other_paths_are_404(client, path):
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/../../../../../../../../etc/passwd",
        "/../app.py",
        "//etc/passwd",
    ],
)
def test_path_traversal_is_404_at_the_server_itself(address, path):
    """The other client normalizes such a path before it sends it; an attacker does not."""
    connection = HTTPConnection(address.removeprefix("http://").rstrip("/"), timeout=10)
    connection.request("GET", path, headers={HEADER: PLAIN})
    assert connection.getresponse().status == 404
    connection.close()


@pytest.mark.parametrize("path", [*PATHS, "/nothing", "/api/nothing"])
def test_every_response_forbids_inline_code_frames_and_other_hosts(client, path):
    headers = client.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers


def test_a_rejection_has_security_headers_too(client):
    answer = client.get("/", headers={"Host": "evil.example"})
    assert "Content-Security-Policy" in answer.headers


def test_the_page_has_no_inline_code_and_no_url_of_another_host(client):
    page = client.get("/").text
    assert " style=" not in page
    assert "onclick" not in page
    assert "<script>" not in page
    assert "://" not in page


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_nothing_can_be_written(client, method):
    assert client.request(method, ABOUT).status_code == 405


@pytest.mark.parametrize(
    "query", ["k=0", "k=201", "k=-1", "k=ten", "k=" + "9" * 400, "k=%EF%BC%91"]
)
def test_a_bad_number_of_neighbors_is_400(client, query):
    assert client.get(f"/api/nodes/1?{query}").status_code == 400


@pytest.mark.parametrize("nodes", ["", "300", "-1", "1,x", ",".join(["1"] * 101)])
def test_bad_numbers_of_nodes_are_400(client, nodes):
    assert client.get(f"/api/names?nodes={nodes}").status_code == 400


@pytest.fixture
def open_client(exploration):
    """A client of a server that is open to other machines."""
    app = guarded(exploration, "0.0.0.0", PORT, "secret")
    return TestClient(app, base_url="http://machine.example")


def test_another_host_needs_the_token_in_the_url(open_client):
    assert open_client.get("/").status_code == 403
    assert open_client.get("/?token=wrong").status_code == 403
    assert open_client.get("/?token=secret").status_code == 200


def test_another_host_needs_the_token_in_the_api(open_client):
    assert open_client.get(ABOUT, headers={HEADER: PLAIN}).status_code == 403
    assert open_client.get(ABOUT, headers={HEADER: "sécret".encode()}).status_code == 403
    assert open_client.get(ABOUT, headers={HEADER: "secret"}).status_code == 200


def test_a_named_host_is_checked_beside_the_token(exploration):
    app = guarded(exploration, "192.0.2.7", PORT, "secret")
    for host, code in ((f"192.0.2.7:{PORT}", 200), ("evil.example", 400), (f"{LOCAL}:{PORT}", 400)):
        client = TestClient(app, base_url=f"http://{host}")
        assert client.get("/?token=secret").status_code == code


def test_without_the_token_other_users_of_this_machine_get_403(exploration):
    app = guarded(exploration, LOCAL, PORT, "secret-token")
    client = TestClient(app, base_url=f"http://{LOCAL}:{PORT}")
    for path in ("/", "/?token=", "/?token=other", ABOUT, "/api/positions/0"):
        assert client.get(path, headers={HEADER: PLAIN}).status_code == 403
    assert client.get("/?token=secret-token").status_code == 200
    assert client.get(ABOUT, headers={HEADER: "secret-token"}).status_code == 200


@pytest.mark.parametrize("path", PATHS)
def test_only_a_framed_explorer_can_be_in_a_frame(exploration, path):
    for framed in (True, False):
        app = guarded(exploration, LOCAL, PORT, "secret-token", framed=framed)
        client = TestClient(app, base_url=f"http://{LOCAL}:{PORT}")
        headers = client.get(path, params={"token": "secret-token"}).headers
        assert ("frame-ancestors 'none'" in headers["Content-Security-Policy"]) is not framed
        assert ("x-frame-options" in headers) is not framed
        assert "default-src 'none'" in headers["Content-Security-Policy"]


def test_hostile_names_arrive_as_they_are(client):
    for node, name in enumerate(explored.HOSTILE):
        answer = client.get(f"/api/nodes/{node}")
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["name"] == name
        assert client.get("/api/find", params={"name": name}).json()["node"] == node


def test_the_default_port_is_optional_in_the_host_header(exploration):
    app = guarded(exploration, LOCAL, 80, None)
    for host, code in (
        (LOCAL, 200),
        ("localhost", 200),
        (f"{LOCAL}:80", 200),
        (f"{LOCAL}:81", 400),
    ):
        answer = TestClient(app, base_url="http://x").get("/", headers={"host": host})
        assert answer.status_code == code
