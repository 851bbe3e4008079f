"""The native loops under the address, undefined-behavior and thread sanitizers."""

import os
import platform
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

import pytest

from hopvec import _native

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
NATIVE = ROOT / "src" / "hopvec" / "engine" / "native"
BINDINGS = ("module", "bind_")
SOURCES = sorted(
    source
    for source in NATIVE.glob("*.cpp")
    if source.stem != "kernels" and not source.stem.startswith(BINDINGS)
)
X86 = platform.machine().lower() in ("x86_64", "amd64")
LEVELS = ("plain", "v3", "v4") if X86 else ("plain",)
# Loads and stores differ between levels; threads do not, so one level is enough for them.
RUNS = [*(("address,undefined", level) for level in LEVELS), ("thread", _native.level())]

COMPILER = shutil.which("g++") or shutil.which("clang++")
pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="no C++ compiler (g++ or clang++) on PATH"),
    pytest.mark.skipif(not NATIVE.is_dir(), reason="the C++ sources are not available"),
]


def level_flags():
    """The compiler flags of each dispatch level, read from CMakeLists.txt."""
    text = (ROOT / "CMakeLists.txt").read_text()
    v3 = re.search(r"set\(V3 ([^)]*)\)", text)[1].split()
    v4 = re.search(r"add_kernels\(v4 \$\{V3\} ([^)]*)\)", text)[1].split()
    return {"plain": [], "v3": v3, "v4": v3 + v4}


def compile_driver(directory, sanitizer):
    """Compile the driver and the kernels with a sanitizer; return the path of the program."""
    flags = ["-std=c++17", "-O1", "-g1", "-pthread", "-ffp-contract=off", "-fno-math-errno"]
    flags += [f"-fsanitize={sanitizer}", "-fno-omit-frame-pointer", f"-I{NATIVE}"]
    if "undefined" in sanitizer:
        flags.append("-fno-sanitize-recover=undefined")
    if X86:
        flags.append("-DHOPVEC_X86_LEVELS")
    jobs = [(source.stem, source, ["-O0"]) for source in HERE.glob("*.cpp")]  # compiles faster
    jobs += [(source.stem, source, []) for source in SOURCES]
    for level in LEVELS:
        names = [f"-DHOPVEC_KERNELS={level}_kernels", f'-DHOPVEC_LEVEL_NAME="{level}"']
        jobs.append((f"kernels_{level}", NATIVE / "kernels.cpp", names + level_flags()[level]))

    def compile_one(job):
        name, source, options = job
        command = [
            COMPILER,
            *flags,
            *options,
            "-c",
            str(source),
            "-o",
            str(directory / f"{name}.o"),
        ]
        subprocess.run(command, check=True, capture_output=True, text=True)
        return str(directory / f"{name}.o")

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, jobs))
    driver = directory / "driver"
    command = [COMPILER, *flags, *objects, "-o", str(driver)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return driver


@pytest.fixture(scope="module")
def driver(tmp_path_factory):
    """A function that builds the driver with a sanitizer, once per sanitizer."""

    @cache
    def build(sanitizer):
        directory = tmp_path_factory.mktemp("driver")
        probe = directory / "probe.cpp"
        probe.write_text("int main() { return 0; }\n")
        command = [COMPILER, f"-fsanitize={sanitizer}", str(probe), "-o", str(directory / "probe")]
        built = subprocess.run(command, capture_output=True, text=True)
        if built.returncode or subprocess.run([str(directory / "probe")]).returncode:
            pytest.skip(
                f"this machine lacks the runtime of -fsanitize={sanitizer}: {built.stderr[-200:]}"
            )
        try:
            return compile_driver(directory, sanitizer)
        except subprocess.CalledProcessError as error:
            pytest.fail(error.stderr)

    return build


@pytest.mark.parametrize(("sanitizer", "level"), RUNS)
def test_every_loop_runs_clean_and_gives_the_same_bytes_on_1_thread_and_on_3(
    driver, sanitizer, level
):
    run = subprocess.run(
        [str(driver(sanitizer))],
        env=os.environ | {"HOPVEC_LEVEL": level, "TSAN_OPTIONS": "halt_on_error=1"},
        capture_output=True,
        text=True,
    )
    if "is not a level this machine can run" in run.stderr:
        pytest.skip(f"this machine cannot run {level}")
    assert run.returncode == 0, run.stderr[-4000:]
    assert run.stdout.strip() == level
    assert run.stderr == ""
