"""Files that were once fatal, believed or lost, given to the commands that fail on them.

Each is refused in a sentence, with exit code 2, or has the right result.
"""

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import hopvec
from hopvec import FormatError
from hopvec.cli.program import hopvec as program

FILES = Path(__file__).parent / "files"
LIKE = sorted(FILES.glob("like-*"))
REFUSED = {
    **dict.fromkeys(("n-bomb.npz", "n-2e62.npz", "big.mtx"), "info {file}"),
    "w2v-dim.txt": "neighbors {file} a",
    "load-memory.arrow": "neighbors {file} a",
    "dim0.parquet": "convert {file} out.arrow",
    "crash-nodes.arrow": "embed edges.csv -o out.parquet --nodes {file}",
    "crash-features.arrow": "embed edges.csv -o out.parquet --features {file}",
    "damaged-features.parquet": "embed edges.csv -o out.parquet --features {file}",
    "crash-labels.arrow": "evaluate vectors.parquet {file}",
    "negative-rows.parquet": "explore {file}",
    "page-size.parquet": "evaluate vectors.parquet {file}",
    "cut.parquet": "embed edges.csv -o out.parquet --nodes {file}",
    "encoding.graphml": "embed {file} -o out.parquet",
    "short-sampling.parquet": "evaluate vectors.parquet --graph edges.csv --links {file}",
    "no-name.mat.zst": "embed {file} -o out.parquet",
    "hash-row.csv": "embed {file} -o out.parquet",
    "nested-edge.graphml": "embed {file} -o out.parquet",
    "short-header.csv": "embed {file} -o out.parquet",
    **dict.fromkeys((path.name for path in LIKE), "embed edges.csv -o out.parquet --like {file}"),
}
READ = {
    "nan-weights.csv": "embed {file} -o out.parquet",
    "escape-ids.csv": "embed {file} -o out.parquet",
    "escape-ids.parquet": "info {file}",
    "info-keyerror.parquet": "info {file}",
    "tsv-forge.parquet": "info {file}",
    **dict.fromkeys((path.name for path in FILES.glob("further-*")), "neighbors {file} n0"),
}


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A function that runs a command beside some edges, and vectors of their nodes."""
    monkeypatch.chdir(tmp_path)
    Path("edges.csv").write_text("source,target\na,b\nb,c\nc,d\n")
    hopvec.FastRP(dim=4).embed(hopvec.read_graph("edges.csv")).save("vectors.parquet")

    def run(command, file):
        return CliRunner().invoke(program, command.format(file=FILES / file).split())

    return run


def test_no_file_is_left_out():
    assert sorted({*REFUSED, *READ}) == sorted(path.name for path in FILES.iterdir())


@pytest.mark.parametrize("file", REFUSED)
def test_a_file_is_refused_by_its_name(run, file):
    result = run(REFUSED[file], file)
    assert result.exit_code == 2, result.output
    assert file in result.stderr
    assert not Path("out.parquet").exists()


@pytest.mark.parametrize("file", READ)
def test_a_file_is_read(run, file):
    result = run(READ[file], file)
    assert result.exit_code == 0, result.output
    if Path("out.parquet").exists():
        assert np.isfinite(hopvec.load("out.parquet").vectors).all()


@pytest.mark.parametrize("path", LIKE, ids=lambda path: path.stem)
def test_a_damaged_state_of_an_earlier_version_is_refused_under_its_present_name(path, tmp_path):
    table = pq.read_table(path)
    metadata = json.loads(table.schema.metadata[b"hopvec"])
    metadata["fitted_state"] = metadata.pop("frame")
    copy = tmp_path / "vectors.parquet"
    pq.write_table(table.replace_schema_metadata({"hopvec": json.dumps(metadata)}), copy)
    with pytest.raises(FormatError, match=r"vectors\.parquet: .* fitted state (is|differ)"):
        hopvec.load(copy)
