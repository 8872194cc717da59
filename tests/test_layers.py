"""The layers are a rule: what may import what, read with ast."""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "src" / "embassay"
ROOMS = (
    "core",
    "stats",
    "corpora",
    "models",
    "search",
    "diagnostics",
    "reports",
    "run",
    "comparison",
    "testsets",
    "training",
    "cli",
)
"""A room imports only what stands left of it."""
AT_THE_ROOT = {"__init__", "__main__", "_version", "api", "plugin", "testing"}
LEAVES = ("testsets", "training", "cli")
"""Rooms that only the command line, the Python functions and one leaf another import."""
SHARED_OF_CORPORA = ("embassay.corpora.io", "embassay.corpora.queries", "embassay.corpora.retrieval.answers")
"""What others than ``corpora`` may import of it: readers of users' files, queries made from documents, where answers
stand in texts."""
PLUGINS = {
    "models": "create",
    "search/retrievers": "create",
    "corpora": "load",
    "diagnostics": "create",
    "testsets": "build",
}
"""The kinds of plug-ins, and the function that makes a file one of them."""
PURE = ("core/samples", "core/vectors", "core/types", "core/result", "core/randomness", "stats")
"""What needs numpy and scipy only, but for the word overlap, and for pydantic where samples are checked."""
STANDARD = {"numpy", "scipy", "polars", "annotated_types", "pydantic"}


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


def is_in(path, *places):
    """Return whether a file is one of these, or in one of these folders."""
    return any(path == Path(place) or Path(place) in path.parents for place in places)


def test_a_room_imports_from_its_left_only():
    wrong = []
    for path, name in all_own_imports():
        own, other = layer(path), name.split(".")[1]
        if own in ROOMS and other != "_version":
            is_left = other in ROOMS and ROOMS.index(other) <= ROOMS.index(own)
            if not is_left and (own, other) != ("cli", "api"):
                wrong.append(f"{path} imports {name}")
    assert wrong == []


def test_of_corpora_others_import_the_shared_parts_only():
    wrong = []
    for path, name in all_own_imports():
        other = not is_in(path, "corpora", "cli")
        if other and name.startswith("embassay.corpora.") and not name.startswith(SHARED_OF_CORPORA):
            wrong.append(f"{path} imports {name}")
    assert wrong == []


def test_every_file_is_in_a_room():
    assert {layer(p) for p in modules()} == {*ROOMS, *AT_THE_ROOT}


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
    plugins = {path for path in modules() if is_in(path, folder) and f"\ndef {PLUGINS[folder]}(" in text[path]}
    names = {".".join(["embassay", *path.parts]) for path in plugins}
    assert names
    for path in plugins:
        found = names & set(own_imports(path))
        assert not found, f"{path} imports {found}"


def test_pure_files_need_numpy_and_scipy_only():
    for path in modules():
        if not is_in(path, *PURE) or is_in(path, "stats/lexical"):
            continue
        for name, at_once in imports(path):
            root = name.split(".")[0]
            if (path, root) == (Path("core/result"), "altair"):
                continue  # the type that Result.plot returns
            assert root in sys.stdlib_module_names | STANDARD | {"embassay"}, f"{path} imports {name}"
            assert root not in ("polars", "pydantic") or not at_once, path


def test_word_overlap_brings_its_libraries_when_they_are_used():
    for path in modules():
        if not is_in(path, "stats/lexical"):
            continue
        for name, at_once in imports(path):
            root = name.split(".")[0]
            later = not at_once and root in {"rapidfuzz", "tokenizers"}
            assert later or root in sys.stdlib_module_names | {"numpy", "embassay"}, f"{path} imports {name}"


def test_torch_lives_where_models_are_run_and_trained_only():
    # The evaluator is derived from sentence-transformers' own.
    for path in modules():
        if not is_in(path, "models", "search/exact", "run/engine", "training", "cli/evaluator", "testsets"):
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
        "spacy",
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


def test_no_other_room_imports_a_leaf():
    above = {"api", "plugin", "__init__", "__main__", *LEAVES}
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
