"""The environments of the peers: python -m benchmarks.environments makes those that are not there.

A virtual environment for each file of requirements in benchmarks/environments, in .venv-bench. The
peers are pinned there; what they need themselves is what pip finds, and is recorded with the
results. One that does not install is recorded with its error, which is a finding, too.
"""

import hashlib
import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from benchmarks.processes import RESULTS, ROOT, environment_python, say, write

REQUIREMENTS = ROOT / "benchmarks" / "environments"
PATH = RESULTS / "environments.json"
LIST_PACKAGES = (
    "import json; from importlib.metadata import distributions as all; "
    "print(json.dumps({d.metadata['Name']: d.version for d in all()}))"
)
MOST_SECONDS = 1800


def main() -> int:
    """Make all environments, and write what is in them."""
    found = {}
    for requirements in sorted(REQUIREMENTS.glob("*.txt")):
        name = requirements.stem
        found[name] = ready(name, requirements)
        say(f"environment {name}: {found[name].get('error', 'ready')}")
    write(PATH, found)
    return 0


def ready(name: str, requirements: Path) -> dict[str, Any]:
    """The packages of an environment, made first if its requirements are others; or an error."""
    python = environment_python(name)
    stamp = python.parent.parent / "requirements.sha256"
    asked = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if not (stamp.is_file() and stamp.read_text() == asked):
        error = install(python, requirements)
        if error:
            return {"error": error}
        stamp.write_text(asked)
    listed = subprocess.run([python, "-c", LIST_PACKAGES], capture_output=True, text=True)
    lines = requirements.read_text().splitlines()
    pinned = [line.partition("==")[0] for line in lines if "==" in line and line[0] != "#"]
    return {"asked": pinned, "packages": dict(sorted(json.loads(listed.stdout).items(), key=str))}


def install(python: Path, requirements: Path) -> str | None:
    """What pip said last if it could not install; None if it could."""
    if not python.is_file():
        venv.create(python.parent.parent, with_pip=True)
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        answer = subprocess.run(
            [*command, "-r", requirements], capture_output=True, text=True, timeout=MOST_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"pip was not done after {MOST_SECONDS} s"
    return None if answer.returncode == 0 else last_error(answer.stderr)


def last_error(text: str) -> str:
    """The last line that tells an error, else the last line; no paths of this machine."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    told = [line for line in lines if line.lower().startswith("error") or "Error:" in line]
    return ((told or lines or ["no message"])[-1])[:300].replace(str(ROOT), ".")


if __name__ == "__main__":
    sys.exit(main())
