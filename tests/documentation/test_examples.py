"""Every script of examples/ runs as a user would run it, in a directory of its own."""

import ast
import os
import shutil
import subprocess
import sys

import pytest

import hopvec
from code_blocks import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SHOWN = {  # a part of the output of each script
    "compare_methods.py": "DeepWalk",
    "new_nodes.py": "lowest cosines: 5 ",
    "pandas_frames.py": "zoe",
    "quickstart.py": "ann is close to bob",
    "recommend.py": "rp3beta",
    "spark_embed.py": "columns",
}
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def run(script, directory):
    environment = os.environ | {"PYSPARK_PYTHON": sys.executable, "JAVA_TOOL_OPTIONS": QUICK_START}
    return subprocess.run(
        [sys.executable, str(script)],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.name)
def test_an_example_runs(script, tmp_path):
    if "spark" in script.name and not shutil.which("java") and not os.environ.get("JAVA_HOME"):
        pytest.skip("no Java: apt-get install default-jre-headless")
    done = run(script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert SHOWN[script.name] in done.stdout
    if "spark" in script.name:
        assert len(hopvec.load(tmp_path / "vectors")) == 100
    else:
        assert done.stderr == ""


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_short_and_says_what_to_install(script):
    text = script.read_text(encoding="utf-8")
    assert "pip install" in ast.get_docstring(ast.parse(text))
    assert 20 <= text.count("\n") <= 55


def test_the_list_of_examples_is_complete():
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert all(f"]({script.name})" in listed for script in EXAMPLES)
