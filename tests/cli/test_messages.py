"""name_options: messages of the library name options of the current command."""

import sys

import click
import pytest

from hopvec.cli.embed import embed
from hopvec.cli.messages import name_options, renamed_argument
from hopvec.cli.split import split
from hopvec.cli.tune import tune
from hopvec.errors import GraphError


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Name it with source= or target=.", "Name it with --source or --target."),
        ("Use duplicates='sum' to add them.", "Use --duplicates sum to add them."),
        ("Set symmetrize=True, or directed=True.", "Set --symmetrize, or --directed."),
        ("directed=False, header=False", "--undirected, --no-header"),
        ("weight='a b', comment=''", "--weight 'a b', --comment ''"),
        ("Use prefixes=('user:', 'item:').", "Use --prefixes user:,item:."),
        ("Set weights=[0, 1, 2.5] or beta=-0.5.", "Set --weights 0,1,2.5 or --beta -0.5."),
        ("Set spill_dir= to another directory.", "Set --spill-dir to another directory."),
    ],
)
def test_arguments_become_options(message, expected):
    assert name_options(message, click.Context(embed)) == expected


@pytest.mark.parametrize(
    "message",
    [
        "Call Graph.from_scipy(matrix, directed=True) instead.",  # Python code
        "There is no k= here.",  # an option of other commands
        "unweighted=False",  # cannot be typed
        "FastRP: beta must be a number from -1 to 1, got 3.",
    ],
)
def test_other_text_stays_as_it_is(message):
    assert name_options(message, click.Context(embed)) == message


def test_arguments_with_other_names_become_their_options():
    assert name_options("or connected=False.", click.Context(split)) == "or --any-edges."
    assert name_options("Embed it with like=.", click.Context(split)) == (
        "Embed it with hopvec embed --like."
    )
    assert name_options("such as space={'dim': '64:256:64'}.", click.Context(tune)) == (
        "such as --space dim=64:256:64."
    )


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("hold_out: the graph has no edges.", "The graph has no edges."),
        ("v.npy: classify: a share of 0.1 ...", "v.npy: a share of 0.1 ..."),
        ("hold_out: count= and share=", "--count and --share"),
        ("split: there is no such file.", "split: there is no such file."),
    ],
)
def test_the_name_of_a_python_function_is_left_out(message, expected):
    assert name_options(message, click.Context(split)) == expected


def test_a_positional_argument_has_the_name_of_the_help():
    assert name_options("needs labels=", click.Context(tune)) == "needs LABELS"


def test_an_argument_can_be_renamed_in_errors():
    with (
        pytest.raises(GraphError, match=r"^Name it with features_id=\.$"),
        renamed_argument("id_column", "features_id"),
    ):
        raise GraphError("Name it with id_column=.")


def test_without_a_command_nothing_changes():
    assert name_options("Name it with source=.") == "Name it with source=."


def test_errors_and_notes_of_a_run_name_options(run, tmp_path):
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,a\n")
    result = run("info", "edges.csv", "--duplicates", "error")
    assert result.exit_code == 2
    assert "--duplicates sum" in result.stderr


def test_a_missing_extra_names_the_option(run, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "usearch", None)
    (tmp_path / "edges.csv").write_text("source,target\na,b\nb,c\n")
    assert run("embed", "edges.csv", "-o", "vectors.parquet").exit_code == 0
    result = run("neighbors", "vectors.parquet", "--all", "--approximate", "-o", "knn.parquet")
    assert result.exit_code == 2
    assert result.stderr.startswith("--approximate needs the approximate extra: pip install")
