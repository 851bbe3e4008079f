"""The code blocks of Markdown pages, and how they are run.

Blocks of a page are run in order, Python in one namespace and commands in one directory. A comment
`<!-- setup` ... `-->` is run as Python, but not shown to readers. A block below the comment
`<!-- not run: reason -->` is only checked: Python must compile, and commands must parse.
"""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import NamedTuple

import click
from click.testing import CliRunner

from hopvec.cli.program import hopvec as program

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^(?P<indent>[ ]*)(?:<!--[ ]not[ ]run:[ ](?P<reason>[^\n]*?)[ ]-->\s*\n[ ]*)?```[ ]?"
    r"(?P<language>\w+)[^\n]*\n(?P<code>.*?)^[ ]*```[ ]*$|^<!--[ ]setup\n(?P<setup>.*?)^-->$",
    re.MULTILINE | re.DOTALL,
)
SHELL = re.compile(r"[|<>&;$`*]|\\$")
EXTRAS = set(
    tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
)


class Block(NamedTuple):
    """A block of code of a page."""

    language: str
    code: str
    line: int
    not_run: str | None = None
    """Why the block is only checked."""


def blocks_of(page):
    """The Python and shell blocks of a page, and its setup, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match["setup"] is not None:
            found.append(Block("python", match["setup"], line))
        elif match["language"] in ("python", "bash"):
            code = re.sub(f"^{match['indent']}", "", match["code"], flags=re.MULTILINE)
            found.append(Block(match["language"], code, line, match["reason"]))
    return found


def commands_of(block):
    """The commands of a shell block, without comments; continued lines are joined."""
    joined = re.sub(r"\\\n\s*", " ", block.code)
    lines = (re.sub(r"(^|\s+)#.*", "", line).strip() for line in joined.splitlines())
    return [line.removeprefix("$ ") for line in lines if line]


def run(page):
    """Run the blocks of a page in the current directory."""
    names = {"__name__": "__main__"}
    for block in blocks_of(page):
        where = f"{page.name}, line {block.line}"
        if block.language == "python":
            code = compile("\n" * block.line + block.code, str(page), "exec")
            if not block.not_run:
                exec(code, names)
        else:
            for command in commands_of(block):
                run_command(command, where, only_parse=bool(block.not_run))


def run_command(command, where, only_parse=False):
    """Run or parse a command; of pip, only the extras are checked."""
    name, *arguments = shlex.split(command)
    if name == "pip":
        extras = re.findall(r"(?:hopvec|\.)\[([\w,]+)\]", command)
        unknown = {extra for each in extras for extra in each.split(",")} - EXTRAS
        assert not unknown, f"{where}: unknown extras {unknown}: {command}"
    elif only_parse:
        if name == "hopvec" and not SHELL.search(command) and arguments:
            verb, *rest = arguments
            found = program.get_command(click.Context(program), verb)
            assert found, f"{where}: unknown command: {command}"
            found.make_context(verb, rest)
    elif name == "hopvec" and not SHELL.search(command):
        result = CliRunner().invoke(program, arguments)
        assert result.exit_code == 0, f"{where}: {command}\n{result.output}"
    else:
        path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            env={"PATH": path, "HOME": str(Path.cwd())},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{where}: {command}\n{done.stdout}{done.stderr}"
