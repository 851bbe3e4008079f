"""The public names, the cost of `import hopvec`, and the layers of the package."""

import ast
import inspect
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import hopvec

NAMES = [
    "DatasetError",
    "DeepWalk",
    "Embedding",
    "Estimate",
    "FastRP",
    "FormatError",
    "GraRep",
    "Graph",
    "GraphError",
    "HopvecError",
    "LINE",
    "Labels",
    "MemoryLimitError",
    "MissingExtraError",
    "NetMF",
    "Node2Vec",
    "ParameterError",
    "Plan",
    "RandNE",
    "ReadOptions",
    "Snapshots",
    "Tuning",
    "UnknownNodeError",
    "datasets",
    "embed_snapshots",
    "estimate",
    "evaluate",
    "load",
    "read_graph",
    "read_labels",
    "read_sql",
    "recommend",
    "score_pairs",
    "tune",
    "view",
]
PUBLIC_MODULES = ["datasets", "evaluate", "spark", "tuning", "view", "view.explorer"]
HEAVY = [
    "scipy",
    "sklearn",
    "networkx",
    "pandas",
    "matplotlib",
    "pyarrow.compute",
    "pyarrow.parquet",
]

# A package or module may import from itself and from the rows above it.
LAYERS = [
    {"credentials", "escape"},
    {"_native", "errors"},
    {"address", "machine", "progress", "spill"},
    {"memory"},
    {"notebook"},
    {"tabular"},
    {"graph", "run_report"},
    {"engine"},
    {"approximate"},
    {"neighbors"},
    {"embedding", "labels"},
    {"methods", "formats"},
    {"stores", "datasets", "evaluate"},
    {"recommendation", "snapshots"},
    {"tuning"},
    {"view", "spark", "torch_geometric"},
    {"paper"},
    {"cli"},
    {"__main__"},
]
# Exceptions, imported inside functions: an embedding saves itself, and evaluate_recommendation is
# found next to the other evaluations.
UPWARD = {("embedding", "formats"), ("embedding", "stores"), ("evaluate", "recommendation")}

PACKAGE = Path(hopvec.__file__).parent


def test_the_public_names_are_these():
    assert sorted(hopvec.__all__) == NAMES


def test_type_checkers_see_the_same_public_names():
    stub = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
    imported = [
        alias.asname
        for node in stub.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert sorted(imported) == NAMES


@pytest.mark.parametrize("name", PUBLIC_MODULES)
def test_dir_of_a_public_module_shows_its_public_names_only(name):
    module = pytest.importorskip(f"hopvec.{name}")
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, public) for public in module.__all__)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_a_docstring(name):
    assert (getattr(hopvec, name).__doc__ or "").strip()


@pytest.mark.parametrize("name", ["Embedding", "FastRP", "Graph", "Labels", "Plan", "Estimate"])
def test_every_public_method_has_a_docstring(name):
    public = getattr(hopvec, name)
    for attribute in dir(public):
        value = getattr(public, attribute)
        if not attribute.startswith("_") and (callable(value) or isinstance(value, property)):
            assert (inspect.getdoc(value) or "").strip(), attribute


def test_all_errors_are_hopvec_errors_and_builtin_errors():
    kinds = {
        "DatasetError": OSError,
        "FormatError": ValueError,
        "GraphError": ValueError,
        "MemoryLimitError": MemoryError,
        "MissingExtraError": ImportError,
        "ParameterError": ValueError,
        "UnknownNodeError": KeyError,
    }
    assert sorted(kinds) == sorted({name for name in NAMES if "Error" in name} - {"HopvecError"})
    for name, kind in kinds.items():
        assert issubclass(getattr(hopvec, name), (hopvec.HopvecError,))
        assert issubclass(getattr(hopvec, name), kind)


def test_the_version_is_that_of_the_project():
    project = Path(__file__).parents[1] / "pyproject.toml"
    assert hopvec.__version__ == tomllib.loads(project.read_text())["project"]["version"]


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'hopvec' has no attribute 'fastrp'"):
        _ = hopvec.fastrp


@pytest.mark.parametrize("module", ["hopvec", "hopvec.cli.embed"])
def test_import_loads_no_heavy_modules(module):
    code = f"import sys, {module}; print([name for name in {HEAVY} if name in sys.modules])"
    finished = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert finished.stdout == "[]\n"


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows does not report the CPU time of a child"
)
def test_import_takes_less_than_0_3_seconds_of_cpu():
    import resource

    def seconds():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", "import hopvec"], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime

    assert min(seconds() for _ in range(5)) < 0.3


def layer_of(name):
    return next(number for number, layer in enumerate(LAYERS) if name in layer)


def imports(file):
    """The parts of hopvec that a file imports, including imports inside functions."""
    tree = ast.parse(file.read_text())
    only_for_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in only_for_types:
            continue
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are written in full"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "hopvec":
                yield parts[1]


FILES = sorted(
    file for file in PACKAGE.rglob("*.py") if file.parent != PACKAGE or file.name != "__init__.py"
)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_imports_point_one_way(file):
    here = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
    for other in imports(file):
        allowed = other == here or layer_of(other) < layer_of(here) or (here, other) in UPWARD
        assert allowed, f"{here} imports {other}"


def test_imports_are_found():
    assert {"graph", "engine", "embedding", "errors"} <= set(
        imports(PACKAGE / "methods" / "method.py")
    )
    assert set(imports(PACKAGE / "embedding.py")) == {
        "_native",
        "approximate",
        "errors",
        "machine",
        "formats",
        "engine",
        "graph",
        "neighbors",
        "notebook",
        "progress",
        "stores",
    }
