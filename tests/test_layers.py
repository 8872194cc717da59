"""The layers are a rule: what may import what, read with ast."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "src" / "embassay"
OPEN = {"claims", "errors", "formatting", "plugins", "randomness", "_version", "data"}
"""May be imported by everyone but ``reports``, which gets some of them only."""
OPEN_MODULES = (
    "embassay.core.store.paths",
    "embassay.core.store.partial_files",
    "embassay.core.shards.documents",
    "embassay.core.shards.vectors",
    "embassay.core.shards.shards",
    "embassay.core.processes.cores",
    "embassay.core.processes.executors",
    "embassay.core.processes.map",
    "embassay.core.processes.pending",
    "embassay.models.base",
    "embassay.search.retrievers.base",
    "embassay.diagnostics.base",
    "embassay.core.metric_key",
)
"""Modules that may be imported by everyone: paths, the cores of the machine, work in other processes, and the protocols
of what plug-ins may do, and what a metric is called."""
ALLOWED = {
    "__main__": {"cli"},
    "__init__": {
        "adaptation",
        "api",
        "comparison",
        "testsets",
        "integrations",
        "run",
        "samples",
        "types",
        "result",
        "vectors",
    },
    "cli": {
        "metrics",
        "adaptation",
        "api",
        "comparison",
        "corpora",
        "encoders",
        "integrations",
        "findings",
        "outputs",
        "reports",
        "reproduce",
        "run",
        "samples",
        "sharding",
        "store",
        "testsets",
        "training",
        "types",
    },
    "reproduce": {"diagnostics", "encoders", "outputs", "reports", "result", "run", "store", "types"},
    "testing": {"comparison", "result"},
    "api": {
        "metrics",
        "encoders",
        "adaptation",
        "comparison",
        "engine",
        "reports",
        "result",
        "run",
        "samples",
        "sharding",
        "store",
        "testsets",
        "training",
        "types",
    },
    "adaptation": {
        "findings",
        "metrics",
        "outputs",
        "reports",
        "corpora",
        "diagnostics",
        "encoders",
        "engine",
        "layout",
        "result",
        "run",
        "samples",
        "stats",
        "store",
        "training",
        "types",
        "vectors",
    },
    "comparison": {
        "findings",
        "metrics",
        "outputs",
        "corpora",
        "diagnostics",
        "layout",
        "reports",
        "result",
        "run",
        "samples",
        "stats",
        "store",
        "types",
    },
    "sharding": {"corpora", "engine", "geometry", "run", "samples", "store", "types", "vectors"},
    "integrations": {
        "metrics",
        "diagnostics",
        "encoders",
        "reports",
        "result",
        "run",
        "samples",
        "store",
        "types",
        "vectors",
    },
    "testsets": {"corpora", "endpoint", "geometry", "lexical", "result", "run", "samples", "stats", "types"},
    "training": {"corpora", "encoders", "engine", "run", "samples", "store", "types", "vectors"},
    "run": {
        "metrics",
        "findings",
        "corpora",
        "encoders",
        "engine",
        "layout",
        "reports",
        "result",
        "retrievers",
        "samples",
        "stats",
        "store",
        "types",
        "vectors",
    },
    "findings": {"corpora", "layout", "lexical", "metrics", "result", "samples", "stats", "types"},
    "metrics": {"layout", "result", "stats", "types", "vectors"},
    "outputs": {
        "metrics",
        "engine",
        "findings",
        "layout",
        "reports",
        "result",
        "run",
        "samples",
        "store",
        "types",
        "vectors",
    },
    "diagnostics": {"metrics", "geometry", "layout", "lexical", "result", "samples", "stats", "types", "vectors"},
    "encoders": {"corpora", "endpoint", "lexical", "samples", "types", "vectors"},
    "retrievers": {"corpora", "encoders", "endpoint", "engine", "samples", "stats", "types", "vectors"},
    "corpora": {"lexical", "samples", "types"},
    "endpoint": set(),
    "engine": {"geometry", "samples", "types", "vectors"},
    "store": {"result", "samples", "types", "vectors"},
    "reports": {"metrics", "findings", "layout", "result"},
    "layout": set(),
    "stats": {"result", "types"},
    "geometry": set(),
    "lexical": set(),
    "types": {"result", "samples", "vectors"},
    "result": set(),
    "vectors": {"samples"},
    "samples": set(),
    "examples": {"corpora", "samples", "types"},
    "errors": set(),
    "claims": {"result", "types"},
    "formatting": {"layout"},
    "plugins": set(),
    "randomness": set(),
    "data": set(),
    "_version": set(),
}
SHARED_OF_CORPORA = ("embassay.corpora.io", "embassay.corpora.queries")
"""What others than ``corpora`` may import of it: the readers of users' files, and queries made from documents."""
PLUGINS = {
    "encoders": "create",
    "retrievers": "create",
    "corpora": "load",
    "diagnostics": "create",
    "testsets": "build",
}
"""The kinds of plug-ins, and the function that makes a file one of them."""
PURE = {"geometry", "stats", "samples", "vectors", "types", "result", "randomness"}
STANDARD = {"numpy", "scipy", "polars"}


def modules():
    return sorted(p.relative_to(ROOT).with_suffix("") for p in ROOT.rglob("*.py"))


@cache
def imports(path):
    """Return (module, whether it is imported when the module is) of every import in a file."""
    return tuple(_imports(path))


def _imports(path):
    tree = ast.parse((ROOT / path).with_suffix(".py").read_text(encoding="utf-8"))
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) in top) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module, id(node) in top


def layer(path):
    return path.parts[0]


def own_imports(path):
    """Yield the modules of this package that a file imports."""
    for name, _ in imports(path):
        if name.startswith("embassay."):
            yield name


def all_own_imports():
    """Yield (path, module of this package) of every import."""
    for path in modules():
        for name in own_imports(path):
            yield path, name


def is_allowed(own, name):
    other = name.split(".")[1]
    if own == "reports" and other in OPEN:
        return other in ("errors", "formatting", "plugins", "_version")
    return other == own or other in OPEN or name.startswith(OPEN_MODULES) or other in ALLOWED[own]


def test_a_module_imports_from_its_right_only():
    assert [f"{path} imports {name}" for path, name in all_own_imports() if not is_allowed(layer(path), name)] == []


def test_of_corpora_others_import_the_shared_parts_only():
    wrong = []
    for path, name in all_own_imports():
        other = layer(path) not in {"corpora", "cli", "examples"}
        if other and name.startswith("embassay.corpora.") and not name.startswith(SHARED_OF_CORPORA):
            wrong.append(f"{path} imports {name}")
    assert wrong == []


def test_every_layer_is_in_the_table():
    assert {layer(p) for p in modules()} == set(ALLOWED)


def test_no_module_imports_a_private_module_of_another_package():
    wrong = []
    for path, name in all_own_imports():
        package = ["embassay", *path.parts[:-1]]
        parts = name.split(".")
        private = next((place for place, part in enumerate(parts) if part.startswith("_")), None)
        if private is not None and name != "embassay._version" and parts[:private] != package[:private]:
            wrong.append(f"{path} imports {name}")
    assert wrong == []


@pytest.mark.parametrize("folder", PLUGINS)
def test_plug_ins_do_not_import_each_other(folder):
    text = {path: (ROOT / path).with_suffix(".py").read_text(encoding="utf-8") for path in modules()}
    plugins = {path for path in modules() if layer(path) == folder and f"\ndef {PLUGINS[folder]}(" in text[path]}
    names = {".".join(["embassay", *path.parts]) for path in plugins}
    assert names
    for path in plugins:
        found = names & set(own_imports(path))
        assert not found, f"{path} imports {found}"


def test_pure_layers_need_numpy_and_scipy_only():
    for path in modules():
        if layer(path) not in PURE:
            continue
        for name, at_once in imports(path):
            root = name.split(".")[0]
            if (layer(path), root) == ("result", "altair"):
                continue  # the type that Result.plot returns
            assert root in sys.stdlib_module_names | STANDARD | {"embassay"}, f"{path} imports {name}"
            assert root != "polars" or not at_once, path


def test_lexical_brings_its_libraries_when_they_are_used():
    for path in modules():
        if layer(path) != "lexical":
            continue
        for name, at_once in imports(path):
            root = name.split(".")[0]
            later = not at_once and root in {"rapidfuzz", "tokenizers"}
            assert later or root in sys.stdlib_module_names | {"numpy", "embassay"}, f"{path} imports {name}"


def test_torch_lives_where_models_are_run_and_trained_only():
    # The evaluator of integrations is derived from sentence-transformers' own.
    for path in modules():
        if layer(path) not in {"encoders", "engine", "training", "adaptation", "integrations", "testsets"}:
            roots = {name.split(".")[0] for name, _ in imports(path)}
            assert not roots & {"torch", "transformers", "sentence_transformers"}, path


def test_vector_stores_are_used_by_their_files_only():
    stores = {"faiss": "on_faiss", "lancedb": "on_lancedb", "psycopg": "on_pgvector", "pgvector": "on_pgvector"}
    for path in modules():
        for name, at_once in imports(path):
            root = name.split(".")[0]
            assert root not in stores or (not at_once and path.name == stores[root]), f"{path} imports {name}"


def test_heavy_packages_are_imported_where_they_are_used():
    heavy = {
        "torch",
        "sklearn",
        "polars",
        "altair",
        "transformers",
        "sentence_transformers",
        "huggingface_hub",
        "jinja2",
        "gensim",
        "nltk",
        "textblob",
        "lemminflect",
        "harper",
        "codespell_lib",
        "better_profanity",
        "mteb",
        "datasets",
    }
    for path in modules():
        roots = {name.split(".")[0] for name, at_once in imports(path) if at_once}
        assert not roots & heavy, f"{path} imports {roots & heavy} at once"


def test_nothing_unpickles_or_touches_global_random_state():
    for path in modules():
        text = (ROOT / path).with_suffix(".py").read_text(encoding="utf-8")
        for word in (
            "import pickle",
            "allow_pickle=True",
            "np.random.seed",
            "random.seed(",
            "torch.manual_seed",
            "trust_remote_code=True",
        ):
            assert word not in text, f"{path}: {word}"


LEAVES = ("testsets", "training", "adaptation", "integrations", "reproduce")
"""What only the command line and the Python functions import, and one leaf another."""


def test_the_core_imports_no_leaf():
    above = {"cli", "api", "__init__", *LEAVES}
    wrong = [
        f"{path} imports {name}"
        for path, name in all_own_imports()
        if layer(path) not in above and name.split(".")[1] in LEAVES
    ]
    assert wrong == []


def test_no_file_imports_itself_through_others():
    graph = {}
    for path in modules():
        name = ".".join(["embassay", *path.parts]).removesuffix(".__init__")
        graph[name] = set(own_files(path)) - {name}
    assert circle_in(graph) == []


def own_files(path):
    """Yield the modules of this package that a file imports when it runs, not those that only type checkers read."""
    tree = ast.parse((ROOT / path).with_suffix(".py").read_text(encoding="utf-8"))
    for_types = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for_types.update(map(id, ast.walk(node)))
    names = module_names()
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                member = f"{node.module}.{alias.name}"
                yield from {member if member in names else node.module} & names
        elif isinstance(node, ast.Import):
            yield from {alias.name for alias in node.names} & names


@cache
def module_names():
    return frozenset(".".join(["embassay", *path.parts]).removesuffix(".__init__") for path in modules())


def circle_in(graph):
    """Return the names on a circle of a graph; none if there is no circle."""
    done = set()

    def search(name, way):
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        for other in sorted(graph[name]):
            if found := search(other, [*way, name]):
                return found
        done.add(name)
        return []

    for name in sorted(graph):
        if found := search(name, []):
            return found
    return []


def test_a_circle_is_found():
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]
    assert circle_in({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


CORE_OF_RUNS = ("metrics", "run", "findings", "reports", "outputs", "engine", "store")


def test_the_core_names_no_diagnostic():
    """What it must know of one, the diagnostic declares. ``profiles`` are lists of names that users choose from."""
    names = {path.stem for path in modules_of_diagnostics()}
    wrong = []
    for path in modules():
        if layer(path) in CORE_OF_RUNS and path.name != "profiles":
            tree = ast.parse((ROOT / path).with_suffix(".py").read_text(encoding="utf-8"))
            wrong += [
                f"{path}: {node.value}"
                for node in ast.walk(tree)
                if isinstance(node, ast.Constant) and node.value in names - SHAPES_AND_OPTIONS
            ]
    assert wrong == []


SHAPES_AND_OPTIONS = {"similarity"}
"""Names that are also those of an option of encoders."""


def modules_of_diagnostics():
    folder = ROOT / "diagnostics"
    return [path for path in folder.rglob("*.py") if "\ndef create(" in path.read_text(encoding="utf-8")]
