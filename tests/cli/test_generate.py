"""`hopvec generate`."""

import pyarrow.parquet as pq
import pytest

from hopvec.datasets import ChungLu, ErdosRenyi, RMat

LAWS = [
    (("erdos-renyi", "--nodes", "1e3"), ErdosRenyi(nodes=1000, edges=2000, seed=7)),
    (
        ("chung-lu", "--nodes", "1000", "--exponent", "2.5"),
        ChungLu(nodes=1000, edges=2000, exponent=2.5, seed=7),
    ),
    (
        ("rmat", "--scale", "9", "--quadrants", "0.4,0.3,0.2,0.1", "--numbering", "plain"),
        RMat(scale=9, edges=2000, quadrants=(0.4, 0.3, 0.2, 0.1), numbering="plain", seed=7),
    ),
]


@pytest.mark.parametrize(("arguments", "expected"), LAWS)
def test_the_file_has_the_edges_of_the_library(run, tmp_path, arguments, expected):
    result = run("generate", *arguments, "--edges", "2e3", "--seed", 7, "-o", "edges.parquet")
    assert result.exit_code == 0, result.stderr
    assert f"edges.parquet: 2,000 edges, {expected.node_count:,} nodes, " in result.stderr
    expected.write(tmp_path / "expected.parquet")
    written = pq.read_table(tmp_path / "edges.parquet")
    assert written.equals(pq.read_table(tmp_path / "expected.parquet"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rmat", "--scale", 9, "--edges", 10), "Name the output file, such as -o edges.parquet"),
        (("rmat", "--edges", 10, "-o", "e.parquet"), "rmat needs --scale"),
        (
            ("rmat", "--scale", 9, "--edges", 10, "--nodes", 5, "-o", "e.parquet"),
            "The model rmat has no --nodes; it has --scale",
        ),
        (("rmat", "--scale", 99, "--edges", 10, "-o", "e.parquet"), "--scale must be an"),
        (("rmat", "--scale", 9, "--edges", 10, "-o", "e.xyz"), "is not a format for tables"),
    ],
)
def test_user_errors_write_nothing(run, tmp_path, arguments, message):
    result = run("generate", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_help_groups_options_by_model(run):
    printed = run("generate", "--help").stdout
    assert "Options of erdos-renyi and chung-lu:" in printed
    assert "Options of rmat:" in printed
