"""The code blocks of Markdown pages, and how they are run.

Blocks of a page are run in order, Python in one namespace and commands in one directory. A comment
`<!-- setup` ... `-->` is run as Python, but not shown to readers. A block below the comment
`<!-- not run: reason -->` is only checked: Python must compile, and commands must parse. So is one
below `<!-- needs: faiss -->` if that module is not installed. A text block below `<!-- output -->`
is exactly what the Python block before it prints. A block with a title, such as
```python title="check.py"`, is a file, which all other blocks of the page may use.

Each line of a shell block is a command of its own. A block that starts with `#!` or `set -` is one
script.
"""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import click
from click.testing import CliRunner

from hopvec.cli.program import hopvec as program

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"""
    ^(?P<indent>[ ]*)
    (?:<!--[ ](?:not[ ]run:[ ](?P<reason>[^\n]*?)|needs:[ ](?P<needs>\w+)|(?P<output>output))[ ]-->
        \s*\n[ ]*)?
    ```[ ]?(?P<language>\w+)(?:[ ]title="(?P<title>[^"]+)")?[^\n]*\n
    (?P<code>.*?)^[ ]*```[ ]*$
    |^<!--[ ]setup\n(?P<setup>.*?)^-->$
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
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
    needs: str | None = None
    """The module that the block needs, if it is not one that all tests have."""
    title: str | None = None
    """The name of the file that the block shows."""

    @property
    def is_run(self):
        """Whether the block is run here."""
        return not (self.not_run or (self.needs and not find_spec(self.needs)))


def blocks_of(page):
    """The Python and shell blocks of a page, and its setup, in order."""
    text = page.read_text(encoding="utf-8")
    found = []
    for match in BLOCK.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        if match["setup"] is not None:
            found.append(Block("python", match["setup"], line))
            continue
        code = re.sub(f"^{match['indent']}", "", match["code"], flags=re.MULTILINE)
        if match["title"]:
            found.append(Block(match["language"], code, line, title=match["title"]))
        elif match["output"]:
            found.append(Block("output", code, line))
        elif match["language"] in ("python", "bash"):
            found.append(Block(match["language"], code, line, match["reason"], match["needs"]))
    return found


def commands_of(block):
    """The commands of a shell block, without comments; continued lines are joined."""
    joined = re.sub(r"\\\n\s*", " ", block.code)
    lines = (re.sub(r"(^|\s+)#.*", "", line).strip() for line in joined.splitlines())
    return [line.removeprefix("$ ") for line in lines if line]


def run(page):
    """Run the blocks of a page in the current directory."""
    names, printed = {"__name__": "__main__"}, ""
    blocks = blocks_of(page)
    for block in blocks:
        if block.title:
            Path(block.title).write_text(block.code, encoding="utf-8")
    for block in blocks:
        where = f"{page.name}, line {block.line}"
        if block.title:
            continue
        if block.language == "python":
            code = compile("\n" * block.line + block.code, str(page), "exec")
            if block.is_run:
                with redirect_stdout(StringIO()) as output:
                    exec(code, names)
                printed = output.getvalue()
        elif block.language == "output":
            shown = [line.rstrip() for line in block.code.strip().splitlines()]
            assert shown == [line.rstrip() for line in printed.strip().splitlines()], where
        elif block.code.startswith(("#!", "set -")):
            run_shell(block.code, where, only_parse=not block.is_run)
        else:
            for command in commands_of(block):
                run_command(command, where, only_parse=not block.is_run)


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
        run_shell(command, where)


def run_shell(script, where, only_parse=False):
    """Run a script in bash, where `hopvec` is the one that is tested; or check its syntax."""
    if sys.platform == "win32":
        return
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": str(Path.cwd()),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    done = subprocess.run(
        ["bash", *(["-n"] if only_parse else []), "-euo", "pipefail", "-c", script],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{where}: {script}\n{done.stdout}{done.stderr}"
