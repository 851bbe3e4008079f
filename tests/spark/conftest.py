"""A real cluster of two executors on this machine, shared by all tests that need one."""

import os
import shutil
import socket
import sys

import pytest

QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


def free_port():
    with socket.socket() as unused:
        unused.bind(("localhost", 0))
        return unused.getsockname()[1]


@pytest.fixture(scope="session")
def local_dirs(tmp_path_factory):
    """The directory for the local files of the executors."""
    return tmp_path_factory.mktemp("local")


@pytest.fixture(scope="session")
def spark(tmp_path_factory, local_dirs):
    """A session on local-cluster[2,1,1024]: two executor processes of one core each.

    It is also a server of Spark Connect.
    """
    if not shutil.which("java") and not os.environ.get("JAVA_HOME"):
        pytest.skip("no Java: apt-get install default-jre-headless")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("tests")
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.shuffle.compress": "false",  # so that the bytes of a shuffle are predictable
        "spark.local.dir": str(local_dirs),
        "spark.driver.extraJavaOptions": QUICK_START,
        "spark.executor.extraJavaOptions": QUICK_START,
        "spark.sql.codegen.wholeStage": "false",  # compiling takes longer than computing
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "localhost",
        "spark.connect.grpc.binding.port": str(free_port()),
    }.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
