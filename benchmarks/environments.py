"""Create the environments of the peers: python -m benchmarks.environments.

There is a virtual environment in .venv-bench for each requirements file in benchmarks/environments.
The peers are pinned; pip chooses the versions of their dependencies, which are recorded with the
results. If an environment cannot be installed, its error is recorded.
"""

import hashlib
import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from benchmarks.processes import RESULTS, ROOT, environment_python, log, write

REQUIREMENTS = ROOT / "benchmarks" / "environments"
PATH = RESULTS / "environments.json"
LIST_PACKAGES = (
    "import json; from importlib.metadata import distributions as all; "
    "print(json.dumps({d.metadata['Name']: d.version for d in all()}))"
)
TIMEOUT_SECONDS = 1800


def main() -> int:
    """Create all environments, and record their packages."""
    found = {}
    for requirements in sorted(REQUIREMENTS.glob("*.txt")):
        name = requirements.stem
        found[name] = ready(name, requirements)
        log(f"environment {name}: {found[name].get('error', 'ready')}")
    write(PATH, found)
    return 0


def ready(name: str, requirements: Path) -> dict[str, Any]:
    """The packages of an environment, or an error; installs it if its requirements changed."""
    python = environment_python(name)
    stamp = python.parent.parent / "requirements.sha256"
    digest = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if not (stamp.is_file() and stamp.read_text() == digest):
        error = install(python, requirements)
        if error:
            return {"error": error}
        stamp.write_text(digest)
    listed = subprocess.run([python, "-c", LIST_PACKAGES], capture_output=True, text=True)
    lines = requirements.read_text().splitlines()
    pinned = [line.partition("==")[0] for line in lines if "==" in line and line[0] != "#"]
    return {"asked": pinned, "packages": dict(sorted(json.loads(listed.stdout).items(), key=str))}


def install(python: Path, requirements: Path) -> str | None:
    """Install requirements; returns the error of pip, or None."""
    if not python.is_file():
        venv.create(python.parent.parent, with_pip=True)
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    try:
        answer = subprocess.run(
            [*command, "-r", requirements], capture_output=True, text=True, timeout=TIMEOUT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"pip did not finish within {TIMEOUT_SECONDS} s"
    return None if answer.returncode == 0 else last_error(answer.stderr)


def last_error(text: str) -> str:
    """The last line with an error, else the last line; paths are relative."""
    lines = [line.strip() for line in text.strip().splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith("error") or "Error:" in line]
    return ((errors or lines or ["no message"])[-1])[:300].replace(str(ROOT), ".")


if __name__ == "__main__":
    sys.exit(main())
