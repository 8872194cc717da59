"""The layers are a rule: what may import what, read with ast."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "src" / "embassay"
OPEN = {"errors", "folder", "partial_files", "paths", "randomness", "cores", "_version", "data"}
"""May be imported by everyone but ``reports``, which gets ``_version`` only."""
ALLOWED = {
    "cli": {
        "session",
        "inspection",
        "inventory",
        "upkeep",
        "training",
        "adapting",
        "building",
        "generating",
        "exporting",
        "api",
        "store",
    },
    "session": {"config", "plan", "run", "scoring", "reports", "store", "specs", "progress", "types", "result"},
    "inspection": {"plan", "resolve", "reports", "store", "types", "session", "samples"},
    "inventory": {"reports", "sets"},
    "upkeep": {"reports", "store"},
    "training": {"adapt", "progress"},
    "adapting": {"adapt", "adaptation", "progress"},
    "domain": {"adapt", "resolve", "samples", "specs", "types"},
    "adaptation": {"domain", "adapt", "session", "plan", "run", "reports", "specs", "store", "types", "result"},
    "watching": {"encoders", "plan", "resolve", "run", "samples", "specs", "types", "result", "vectors"},
    "building": {"builders", "rating", "api", "progress", "resolve", "reports"},
    "generating": {"building", "api", "reading"},
    "exporting": {"specs", "fidelity", "encoders", "resolve", "store", "types"},
    "fidelity": {"diagnostics", "engine", "geometry", "resolve", "samples", "types"},
    "rating": {"builders", "stats", "result"},
    "builders": {"geometry", "lexical", "endpoint", "reading", "composed", "samples", "specs", "types"},
    "adapt": {"encoders", "engine", "reading", "stats", "store", "samples", "specs", "types", "result", "vectors"},
    "api": {
        "adapt",
        "adaptation",
        "builders",
        "engine",
        "plan",
        "resolve",
        "run",
        "reports",
        "store",
        "types",
        "result",
    },
    "config": {"reading", "specs"},
    "progress": set(),
    "run": {"scoring", "plan", "engine", "store", "layout", "types", "result"},
    "scoring": {"plan", "engine", "store", "types", "result", "vectors", "samples", "pending"},
    "pending": set(),
    "bridges": {"encoders", "plan", "resolve", "run", "samples", "types", "result"},
    "plan": {"checks", "resolve", "sets", "specs", "types", "samples"},
    "resolve": {"encoders", "objects", "reading", "specs", "types"},
    "objects": {"encoders", "samples", "types", "vectors"},
    "sets": {"specs"},
    "specs": set(),
    "diagnostics": {"geometry", "stats", "lexical", "layout", "samples", "types", "result", "vectors", "pending"},
    "encoders": {"endpoint", "reading", "samples", "types", "vectors"},
    "endpoint": set(),
    "corpora": {"checks", "reading", "composed", "samples", "types"},
    "reading": {"checks"},
    "engine": {"geometry", "samples", "types", "vectors", "pending"},
    "store": {"types", "result", "vectors", "samples"},
    "reports": {"layout", "result"},
    "layout": set(),
    "stats": {"types", "result"},
    "geometry": set(),
    "lexical": set(),
    "types": {"checks", "samples", "result", "vectors"},
    "checks": {"samples"},
    "result": set(),
    "vectors": {"samples"},
    "composed": {"samples"},
    "samples": set(),
    "examples": {"corpora", "samples", "types"},
    "errors": set(),
    "folder": set(),
    "partial_files": set(),
    "paths": set(),
    "randomness": set(),
    "cores": set(),
    "data": set(),
    "_version": set(),
    "__init__": {"api", "rating", "watching", "resolve", "samples", "types", "result", "vectors"},
    "__main__": {"cli"},
}
PURE = {"geometry", "stats", "samples", "checks", "composed", "vectors", "types", "result", "randomness"}
STANDARD = {"numpy", "scipy", "polars"}


def modules():
    return sorted(p.relative_to(ROOT).with_suffix("") for p in ROOT.rglob("*.py"))


def imports(path):
    """Yield (module, whether it is imported when the module is) of every import in a file."""
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


@pytest.mark.parametrize("path", modules(), ids=str)
def test_a_module_imports_from_its_right_only(path):
    own = layer(path)
    for name, _ in imports(path):
        if name == "embassay" or not name.startswith("embassay."):
            continue
        other = name.split(".")[1]
        if own == "reports" and other in OPEN:
            assert other == "_version", f"{path} imports {name}"
        elif other not in OPEN:
            assert other == own or other in ALLOWED[own], f"{path} imports {name}"


def test_every_layer_is_in_the_table():
    assert {layer(p) for p in modules()} == set(ALLOWED)


@pytest.mark.parametrize("folder", ["encoders", "corpora", "diagnostics", "builders"])
def test_plug_ins_do_not_import_each_other(folder):
    for path in modules():
        if layer(path) != folder or path.name.startswith("_"):
            continue
        for name, _ in imports(path):
            parts = name.split(".")
            if parts[:2] == ["embassay", folder] and len(parts) > 2:
                assert parts[2].startswith("_"), f"{path} imports {name}"


@pytest.mark.parametrize("path", [p for p in modules() if layer(p) in PURE], ids=str)
def test_pure_layers_need_numpy_and_scipy_only(path):
    import sys

    for name, at_once in imports(path):
        root = name.split(".")[0]
        assert root in sys.stdlib_module_names | STANDARD | {"embassay"}, f"{path} imports {name}"
        assert root != "polars" or not at_once


@pytest.mark.parametrize("path", [p for p in modules() if layer(p) == "lexical"], ids=str)
def test_lexical_brings_its_libraries_when_they_are_used(path):
    import sys

    for name, at_once in imports(path):
        root = name.split(".")[0]
        assert root in sys.stdlib_module_names | {"numpy", "embassay"} or (
            not at_once and root in {"rapidfuzz", "tokenizers"}
        ), f"{path} imports {name}"


def test_torch_lives_in_encoders_engine_and_adapt_only():
    # watching derives its evaluator from sentence-transformers' own.
    for path in modules():
        if layer(path) not in {"encoders", "engine", "adapt", "watching"}:
            roots = {name.split(".")[0] for name, _ in imports(path)}
            assert not roots & {"torch", "transformers", "sentence_transformers", "faiss"}, path


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
