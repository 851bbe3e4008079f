"""The program: its commands, help texts, startup time and suggestions."""

import errno
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pytest

import hopvec
from hopvec.cli.command import Command, value_names
from hopvec.cli.inputs import DUPLICATES, LOOPS, OPTIONS
from hopvec.cli.program import COMMANDS
from hopvec.cli.program import hopvec as program
from hopvec.formats.graphs.options import ReadKeywords

HEAVY = ["numpy", "pyarrow", "scipy", "rich", "hopvec._native"]
CONTEXT = click.Context(program, info_name="hopvec")


def command(name):
    return program.get_command(CONTEXT, name)


def test_without_arguments_it_shows_its_help(run):
    result = run()
    assert result.exit_code == 0
    assert "hopvec embed edges.csv -o vectors.parquet" in result.stdout


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_it_prints_its_version(run, option):
    assert run(option).stdout == f"hopvec {hopvec.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["--version"], ["--help"], ["embd"]])
def test_nothing_heavy_is_imported_before_a_command_runs(arguments):
    code = (
        "import sys\n"
        "from hopvec.cli import main\n"
        f"sys.argv[1:] = {arguments}\n"
        "try:\n    main()\n"
        "finally:\n"
        f"    print([name for name in {HEAVY} if name in sys.modules], file=sys.stderr)"
    )
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert finished.stderr.endswith("[]\n")


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows does not report the CPU time of a child"
)
def test_it_starts_in_less_than_0_15_seconds_of_cpu():
    import resource

    def seconds():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "hopvec", "--help"], check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    assert min(seconds() for _ in range(5)) < 0.15


@pytest.mark.parametrize("name", COMMANDS)
class TestEveryCommand:
    def test_its_help_starts_with_its_line_of_the_table(self, name):
        assert command(name).help.splitlines()[0] == COMMANDS[name]

    def test_its_help_has_examples_and_the_general_options(self, run, name):
        result = run(name, "--help")
        assert result.exit_code == 0
        for word in (
            "Examples:",
            f"  hopvec {name} ",
            "General:",
            "--quiet",
            "--verbose",
            "--debug",
        ):
            assert word in result.stdout

    def test_its_examples_are_valid(self, name):
        for example in command(name).examples:
            for part in example.split("|"):
                arguments = shlex.split(re.sub(r">+ .*", "", part))
                if arguments[0] == "hopvec":
                    assert arguments[1] == name
                    command(name).make_context(name, arguments[2:], parent=CONTEXT)

    def test_every_option_has_a_help_text(self, name):
        for parameter in command(name).params:
            assert not isinstance(parameter, click.Option) or parameter.help

    def test_an_unknown_option_is_an_error_of_one_line(self, run, name):
        result = run(name, "--nonsense")
        assert result.exit_code == 2
        assert result.stderr.startswith("There is no option --nonsense. ")
        assert result.stderr.endswith(f" See hopvec {name} --help.\n")
        assert result.stderr.count("\n") == 1
        assert result.stdout == ""

    def test_it_is_a_command(self, name):
        assert isinstance(command(name), Command)


def test_a_similar_command_is_suggested_for_a_misspelled_one(run):
    result = run("embd")
    assert result.exit_code == 2
    assert result.stderr == "There is no command 'embd'. Did you mean 'embed'? See hopvec --help.\n"


def test_all_commands_are_listed_for_an_unknown_one(run):
    assert f"The commands are {', '.join(COMMANDS)}." in run("xyzzy").stderr


def test_a_similar_option_is_suggested_for_a_misspelled_one(run, edges):
    result = run("embed", edges, "-o", "vectors.npz", "--dimm", 3)
    assert result.exit_code == 2
    assert result.stderr.startswith("There is no option --dimm. Did you mean --dim")


def test_quiet_and_verbose_exclude_each_other(run, vectors):
    result = run("info", vectors, "--quiet", "--verbose")
    assert result.exit_code == 2
    assert "Give --quiet or --verbose, not both." in result.stderr


def test_the_choices_of_input_options_are_those_of_the_library():
    from typing import get_args, get_type_hints

    allowed = get_type_hints(hopvec.Graph.from_edges, {**vars(sys.modules["hopvec.graph.graph"])})
    assert get_args(allowed["duplicates"]) == DUPLICATES
    assert get_args(allowed["loops"]) == LOOPS


def test_every_input_option_is_a_keyword_of_read_graph():
    of_methods = {"threads", "memory", "reserve", "spill_dir"}
    of_read_sql = {"query"}
    assert set(value_names(OPTIONS)) - of_read_sql | of_methods == set(ReadKeywords.__annotations__)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_shell(run, shell):
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_HOPVEC_COMPLETE" in result.stdout


@pytest.mark.parametrize(
    ("typed", "completion"),
    [
        ("hopvec em", "embed"),
        ("hopvec embed --norm", "--normalize"),
        ("hopvec embed --normalize a", "authors"),
    ],
)
def test_the_shell_completes_commands_options_and_values(run, typed, completion):
    arguments = {"_HOPVEC_COMPLETE": "bash_complete", "COMP_WORDS": typed}
    arguments["COMP_CWORD"] = str(len(typed.split()) - 1)
    result = run(env=arguments, prog_name="hopvec")
    assert f"plain,{completion}" in result.stdout


def test_a_file_in_a_folder_that_may_not_be_entered_is_an_error_of_the_user(run, monkeypatch):
    def refused(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", refused)  # as for a folder of mode 000; root may enter it
    result = run("info", "private/edges.csv")
    assert result.exit_code == 2
    assert result.stderr == "private/edges.csv: Permission denied.\n"
