"""An engineer: a nightly job on the command line that keeps yesterday's vectors if it fails."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import hopvec
from community_edges import community_edges

PEOPLE, GROUPS = 240, 3
FIRST = community_edges(PEOPLE, GROUPS, 2400, within=0.9)
NEW = [
    f"{person},{person % GROUPS + GROUPS * friend}"
    for person in (301, 302, 303)
    for friend in range(1, 16)
]


class Job:
    """The directory of a job: today's edges, the reference, and the vectors that others read."""

    def __init__(self, directory):
        self.directory = directory

    def run(self, *arguments):
        """Run hopvec, as cron would."""
        command = [sys.executable, "-m", "hopvec", *arguments]
        return subprocess.run(
            command, cwd=self.directory, capture_output=True, text=True, timeout=120, check=False
        )

    def night(self, *options):
        """Embed today's edges like the reference."""
        return self.run(
            *("embed", "edges.csv", "-o", "vectors.parquet", "--like", "reference.parquet"),
            *("--memory", "300MB", "--report", "run.json", *options),
        )

    def write_edges(self, lines):
        (self.directory / "edges.csv").write_text("\n".join(["source,target", *lines, ""]))

    def bytes_of(self, name):
        return (self.directory / name).read_bytes()

    def load(self, name):
        return hopvec.load(self.directory / name)

    def files(self):
        return sorted(path.name for path in self.directory.iterdir())


@pytest.fixture(scope="module")
def yesterday(tmp_path_factory):
    """A job whose reference was made, and which ran for the first time yesterday."""
    job = Job(tmp_path_factory.mktemp("job"))
    job.write_edges(f"{one},{other}" for one, other in FIRST)
    done = job.run("embed", "edges.csv", "-o", "reference.parquet", "--dim", "32", "--seed", "7")
    assert done.returncode == 0, done.stderr
    assert job.night().returncode == 0
    return job


@pytest.fixture
def job(yesterday, tmp_path):
    """A copy of yesterday's job."""
    shutil.copytree(yesterday.directory, tmp_path, dirs_exist_ok=True)
    return Job(tmp_path)


def test_a_night_with_new_nodes(job):
    yesterday = job.load("vectors.parquet")
    assert np.array_equal(yesterday.vectors, job.load("reference.parquet").vectors)
    model = LogisticRegression(max_iter=1000)
    model.fit(yesterday.vectors, [id % GROUPS for id in yesterday])
    (job.directory / "yesterday.parquet").write_bytes(job.bytes_of("vectors.parquet"))

    gone = 40  # of yesterday's edges
    job.write_edges([*(f"{one},{other}" for one, other in FIRST[gone:]), *NEW])
    done = job.night()
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""

    # The report has what monitoring needs.
    report = json.loads(job.bytes_of("run.json"))
    assert report["graph"]["nodes"] == PEOPLE + 3
    assert report["graph"]["edges"] + report["graph"]["duplicates"] == len(FIRST) - gone + len(NEW)
    assert report["parameters"]["dim"] == 32
    assert report["output"]["vectors"] == PEOPLE + 3
    assert [stage["name"] for stage in report["stages"]] == ["read", "build", "embed", "write"]

    # Yesterday's model understands today's vectors, also those of new nodes.
    today = job.load("vectors.parquet")
    right = model.predict(today.vectors) == [id % GROUPS for id in today]
    assert right.mean() > 0.95
    assert model.predict(today[[301, 302, 303]]).tolist() == [1, 2, 0]

    # How much has changed.
    found = job.run("diff", "yesterday.parquet", "vectors.parquet", "--json")
    assert found.returncode == 0, found.stderr
    moved = json.loads(found.stdout)
    assert (moved["nodes"], moved["added"], moved["removed"]) == (PEOPLE, 3, 0)
    assert min(node["cosine"] for node in moved["moved"]) > 0.5

    # The same night again, in other conditions: the same bytes.
    first = job.bytes_of("vectors.parquet")
    for options in ((), ("--threads", "1"), ("--memory", "1GB")):
        assert job.night(*options).returncode == 0
        assert job.bytes_of("vectors.parquet") == first


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        (["1,2", "2,3,4", "3,1"], (), "edges.csv, line 3: '2,3,4' has 3 columns"),
        (["1,2", "2,"], (), "edges.csv, line 3: the target is empty"),
        ([], (), "edges.csv: there are no edges in it"),
        (None, (), "edges.csv: there is no such file"),
        (["1,2", "2,3"], ("--dim", "64"), "--like takes all parameters from its file"),
        (["1,2", "2,3"], ("--memory", "100kB"), "the memory limit is 100 kB"),
    ],
    ids=["bad row", "no id", "no edges", "no file", "parameters", "memory"],
)
def test_a_night_that_fails_leaves_the_vectors_of_yesterday(job, lines, options, message):
    before = job.bytes_of("vectors.parquet")
    (job.directory / "run.json").unlink()
    if lines is None:
        (job.directory / "edges.csv").unlink()
    else:
        job.write_edges(lines)
    files = job.files()
    failed = job.night(*options)
    assert failed.returncode == 2
    assert message in failed.stderr
    assert failed.stderr.count("\n") == 1
    assert job.bytes_of("vectors.parquet") == before
    assert job.files() == files  # neither a report nor a temporary file


def test_nodes_of_the_day_get_vectors_without_changing_others(job):
    (job.directory / "new.csv").write_text("\n".join(["source,target", *NEW, ""]))
    before = job.bytes_of("vectors.parquet")
    done = job.run(
        "transform", "vectors.parquet", "new.csv", "--base", "edges.csv", "-o", "new.parquet"
    )
    assert done.returncode == 0, done.stderr
    assert job.bytes_of("vectors.parquet") == before
    found = job.load("new.parquet")
    assert list(found) == [301, 302, 303]
    old = job.load("vectors.parquet")
    for id in found:
        similarity = old.vectors @ found[id]
        nearest = np.array(old.ids)[np.argsort(-similarity)[:10]]
        assert (nearest % GROUPS == id % GROUPS).mean() > 0.8
