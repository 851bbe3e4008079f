"""The native loops under the address, undefined-behavior and thread sanitizers.

The loops run in a program of their own, the bindings in Python with a sanitized extension. This
file does not import hopvec, which needs the runtime of a sanitizer in scripts/sanitize.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

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
RUNS = [
    *(("address,undefined", level) for level in LEVELS),
    ("thread", None),  # the best one of this machine
]

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


def compile_all(directory, flags, jobs):
    """Compile (name, source, options) in parallel; return the paths of the objects."""

    def compile_one(job):
        name, source, options = job
        to = str(directory / f"{name}.o")
        command = [COMPILER, *flags, *options, "-c", str(source), "-o", to]
        subprocess.run(command, check=True, capture_output=True, text=True)
        return to

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(compile_one, jobs))


def link(flags, objects, output):
    """Link objects to a program or a library."""
    command = [COMPILER, *flags, *objects, "-o", str(output)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return output


def kernels(level, options):
    """The job that compiles the kernels of a level."""
    names = [f"-DHOPVEC_KERNELS={level}_kernels", f'-DHOPVEC_LEVEL_NAME="{level}"']
    return f"kernels_{level}", NATIVE / "kernels.cpp", names + options


def flags_for(sanitizer):
    """The compiler flags for a sanitizer."""
    flags = ["-std=c++17", "-O1", "-g1", "-pthread", "-ffp-contract=off", "-fno-math-errno"]
    flags += [f"-fsanitize={sanitizer}", "-fno-omit-frame-pointer", f"-I{NATIVE}"]
    if "undefined" in sanitizer:
        flags.append("-fno-sanitize-recover=undefined")
    return flags


def compile_driver(directory, sanitizer):
    """Compile the driver and the kernels with a sanitizer; return the path of the program."""
    flags = flags_for(sanitizer)
    if X86:
        flags.append("-DHOPVEC_X86_LEVELS")
    jobs = [(source.stem, source, ["-O0"]) for source in HERE.glob("*.cpp")]  # compiles faster
    jobs += [(source.stem, source, []) for source in SOURCES]
    jobs += [kernels(level, level_flags()[level]) for level in LEVELS]
    return link(flags, compile_all(directory, flags, jobs), directory / "driver")


def compile_extension(directory):
    """Compile the extension, with plain kernels, for the address sanitizer."""
    nanobind = pytest.importorskip("nanobind")
    source = Path(nanobind.source_dir())
    flags = [*flags_for("address"), "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing"]
    flags += [f"-I{sysconfig.get_path('include')}", f"-I{nanobind.include_dir()}"]
    flags += [f"-I{source.parent / 'ext' / 'robin_map' / 'include'}"]
    bindings = [path for path in NATIVE.glob("*.cpp") if path.stem.startswith(BINDINGS)]
    jobs = [(path.stem, path, []) for path in [*bindings, *SOURCES, source / "nb_combined.cpp"]]
    jobs.append(kernels("plain", []))
    name = "_native" + sysconfig.get_config_var("EXT_SUFFIX")
    return link([*flags, "-shared"], compile_all(directory, flags, jobs), directory / name)


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


@pytest.mark.scheduled
@pytest.mark.parametrize(("sanitizer", "level"), RUNS)
def test_every_loop_runs_clean_and_gives_the_same_bytes_on_1_thread_and_on_3(
    driver, sanitizer, level
):
    selected = {"HOPVEC_LEVEL": level} if level else {}
    run = subprocess.run(
        [str(driver(sanitizer))],
        env=os.environ | selected | {"TSAN_OPTIONS": "halt_on_error=1"},
        capture_output=True,
        text=True,
    )
    if "is not a level this machine can run" in run.stderr:
        pytest.skip(f"this machine cannot run {level}")
    assert run.returncode == 0, run.stderr[-4000:]
    assert run.stdout.strip() in ([level] if level else LEVELS)
    assert run.stderr == ""


@pytest.mark.skipif(sys.platform != "linux", reason="the runtime is loaded with LD_PRELOAD")
def test_the_bindings_check_every_array_before_a_loop_reads_it(tmp_path):
    try:
        extension = compile_extension(tmp_path)
    except subprocess.CalledProcessError as error:
        pytest.fail(error.stderr)
    package = tmp_path / "path" / "hopvec"
    package.mkdir(parents=True)
    for file in Path(find_spec("hopvec").origin).parent.iterdir():
        if not file.name.startswith("_native."):
            (package / file.name).symlink_to(file)
    extension.rename(package / extension.name)
    # The sanitizer intercepts exceptions of the C++ library, which must be loaded with it.
    libraries = [
        subprocess.check_output([COMPILER, f"-print-file-name={name}"], text=True).strip()
        for name in ("libasan.so", "libstdc++.so.6")
    ]
    tests = str(ROOT / "tests" / "engine" / "test_argument_checks.py")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", tests],
        cwd=ROOT,
        env=os.environ
        | {
            "LD_PRELOAD": " ".join(libraries),
            "PYTHONPATH": str(package.parent),
            "PYTHONMALLOC": "malloc",
            "ASAN_OPTIONS": "detect_leaks=0",
        },
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, (run.stdout + run.stderr)[-4000:]
