"""Maps and the explorer in a real notebook, run by a kernel."""

import base64
import re
import struct

import nbclient
import nbformat
import pytest

SETUP = """
import hopvec
from hopvec import view
graph = hopvec.Graph.from_edges([0, 0, 1, 3, 3, 4, 2], [1, 2, 2, 4, 5, 5, 3])
embedding = hopvec.FastRP(dim=8).embed(graph)
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """The outputs of cells, by their code."""
    sources = [
        SETUP,
        "view.draw_map(embedding, kind='pca', size=3, dpi=100)",
        "view.draw_map(embedding, 'map.pdf', kind='pca', size=3, dpi=100)",
        "explorer = view.explore(embedding, graph=graph, layout='pca')\nexplorer",
        "import urllib.request\nurllib.request.urlopen(explorer.url, timeout=10).status",
        "explorer.stop()\nexplorer",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in sources])
    folder = str(tmp_path_factory.mktemp("notebook"))
    client = nbclient.NotebookClient(
        notebook, kernel_name="python3", timeout=120, resources={"metadata": {"path": folder}}
    )
    client.execute()
    return [cell.outputs for cell in notebook.cells]


@pytest.mark.parametrize("cell", [1, 2], ids=["without a file", "with a file"])
def test_a_map_is_shown_below_its_cell(outputs, cell):
    (output,) = outputs[cell]
    picture = base64.b64decode(output["data"]["image/png"])
    assert picture.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", picture[16:24])
    assert (width, height) == (360, 360)
    shown = output["metadata"]["image/png"]
    assert shown == {"width": 346, "alt": "A map of 6 nodes"}  # 3.6 inches of 96 pixels
    assert output["data"]["text/plain"] == "Map(6 nodes)"


def test_the_explorer_is_shown_below_its_cell_and_runs_beside_the_kernel(outputs):
    shown, status, stopped = (outputs[cell][0]["data"] for cell in (3, 4, 5))
    url = re.fullmatch(r"Explorer\('(.*)'\)", shown["text/plain"])[1]
    assert f'<iframe src="{url}"' in shown["text/html"]
    assert status["text/plain"] == "200"
    assert stopped["text/plain"] == "Explorer(stopped)"
