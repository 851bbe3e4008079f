"""The run report: stages with their time and memory, ready for JSON."""

import json
import subprocess
import sys
import time

import pytest

import hopvec
from hopvec.run_report import RunReport, peak_memory


def test_a_stage_has_its_time():
    report = RunReport()
    with report.stage("read"):
        time.sleep(0.05)
    (stage,) = report.stages
    assert stage.name == "read"
    assert 0.05 <= stage.seconds < 1
    assert report.seconds == stage.seconds


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the peak is that of the process")
def test_a_stage_has_the_peak_memory_of_itself_alone():
    report = RunReport()
    with report.stage("large"):
        bytearray(200_000_000)
    with report.stage("small"):
        pass
    large, small = report.stages
    assert large.peak_bytes - small.peak_bytes > 150_000_000
    assert report.peak_bytes == large.peak_bytes


def test_without_proc_the_peak_is_that_of_the_process(monkeypatch, tmp_path):
    monkeypatch.setattr("hopvec.run_report.PROCESS", tmp_path / "absent")
    peak = peak_memory()
    assert peak is None or peak > 10_000_000


def test_a_failed_stage_is_not_reported():
    report = RunReport()
    with pytest.raises(ZeroDivisionError), report.stage("read"):
        raise ZeroDivisionError
    assert report.stages == []


def test_a_report_is_plain_json():
    report = RunReport(graph={"nodes": 3}, notes=["look"])
    with report.stage("read"):
        pass
    read_back = json.loads(json.dumps(report.to_dict()))
    assert read_back["version"] == hopvec.__version__
    assert read_back["graph"] == {"nodes": 3}
    assert read_back["stages"][0]["name"] == "read"
    assert {"seconds", "peak_bytes", "input", "parameters", "plan", "output"} <= set(read_back)


def test_the_peak_of_the_kernel_is_left_alone():
    code = (
        "import numpy, resource; from hopvec.run_report import RunReport\n"
        "big = numpy.ones(30_000_000); del big\n"
        "report = RunReport()\n"
        "with report.stage('small'): pass\n"
        "with report.stage('large'): numpy.ones(10_000_000); \n"
        "peak = open('/proc/self/status').read().split('VmHWM:')[1].split()[0]\n"
        "print(int(peak) * 1024, *(stage.peak_bytes for stage in report.stages))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    kernel, small, large = map(int, done.stdout.split())
    assert kernel > 240_000_000
    assert small < 200_000_000
    assert large < kernel
