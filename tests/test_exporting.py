"""``embassay export``: the whole folder or nothing, with how near it is; figures against loops."""

import json
from dataclasses import dataclass, field
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.errors import EncoderError, MissingExtraError, OutputError, SpecError
from embassay.export import exporting as exporting_module
from embassay.export import fidelity, writing
from embassay.export.exporting import make
from embassay.run.resolve import load_encoder
from embassay.types import Card

TEXTS = ["The gate is open.", "The gate is shut.", "It is not open."]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A tiny sentence-transformers model of modules that a pooled graph has all in it."""
    for name in ("torch", "sentence_transformers", "onnxruntime", "onnx", "openvino"):
        pytest.importorskip(name, reason=f"{name} is not installed (extras hf, onnx, openvino)")
    spec = spec_from_file_location("tiny_model", Path(__file__).parent / "tiny_model.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.make(tmp_path_factory.mktemp("tiny"), prompts={"query": "q: "}, dense=True)


GRAPHS = {}
"""The traced graph of the model by its options."""


@pytest.fixture
def traced_once(model, monkeypatch):
    """Trace the model for the first export only: the tests are about what becomes of the folder."""
    trace = writing._trace

    def traced(model, features, options, path):
        key = repr(options)
        if key not in GRAPHS:
            trace(model, features, options, path)
            GRAPHS[key] = path.read_bytes()
        path.write_bytes(GRAPHS[key])

    monkeypatch.setattr(writing, "_trace", traced)


@pytest.mark.slow
@pytest.mark.parametrize(("to", "int8"), [("onnx", False), ("openvino", True)])
def test_the_command_writes_a_folder_that_runs(model, to, int8, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert exit_code_of(["export", str(model), "-o", "out", "--to", to, *(["--int8"] if int8 else [])]) == 0
    said = capsys.readouterr()
    graph = {"onnx": ["model.onnx"], "openvino": ["openvino_model.bin", "openvino_model.xml"]}[to]
    files = ["README.md", "embassay.json", "fidelity.json", *graph, "tokenizer.json"]
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == files
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert said.err.splitlines()[-2:] == ["model: out", f"assay it with: embassay run -e {to}:./out"]
    lines = said.out.splitlines()
    assert lines[0].startswith("cosine with the original on 716 texts: lowest ")
    assert "opposites: " in lines[1] and "of 280 choices (negated_antonyms) differ" in lines[1]
    assert "handbook: " in lines[2] and "of 675 top-5 documents (retrieval) differ" in lines[2]
    card = (tmp_path / "out" / "README.md").read_text()
    assert all(line in card for line in lines)
    record = json.loads((tmp_path / "out" / "embassay.json").read_text())
    own = load_encoder(str(model))
    assert record["source"]["fingerprint"] == own.fingerprint
    assert (record["dim"], record["int8"], record["pooling"]) == (24, int8, ["mean"])
    assert record["prompts"] == {"query": "q: "}
    assert record["modules"] == ["Transformer", "Pooling", "Dense", "Normalize"]
    found = load_encoder(f"{to}:./out").encode(TEXTS, "query")
    assert np.abs(found - own.encode(TEXTS, "query")).max() < (0.1 if int8 else 1e-5)
    figures = json.loads((tmp_path / "out" / "fidelity.json").read_text())
    assert figures["texts"] == 716
    assert (figures["cosine_min"] < 1 - 1e-6) is int8


@pytest.mark.slow
def test_options_of_the_model_go_with_it(model, tmp_path):
    spec = f"{model},dim=16,normalize=true,max_length=12,query_prompt=r: "
    place = make(spec, tmp_path / "out", "onnx").spec
    for role in ("text", "query"):
        found = load_encoder(place).encode(TEXTS, role)
        assert found.shape == (3, 16)
        assert np.abs(found - load_encoder(spec).encode(TEXTS, role)).max() < 1e-5
    assert load_encoder(place).card.max_tokens == 12


@pytest.mark.parametrize(
    ("encoder", "told"),
    [
        ("hashing", r"only sentence-transformers models \(st:\) can be exported"),
        ("hybrid:a+b", r"only sentence-transformers models \(st:\) can be exported"),
        ("{model},dtype=bfloat16", "option 'dtype': leave it out; a graph is exported in float32"),
        ("{model},vectors=int8", "option 'vectors': leave it out"),
    ],
)
def test_what_cannot_be_exported_is_refused(model, encoder, told, tmp_path):
    with pytest.raises(SpecError, match=told):
        make(encoder.format(model=model), tmp_path / "out", "onnx")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_something_else_is_left_alone(model, tmp_path):
    (tmp_path / "thesis.txt").write_text("All of it.")
    for overwrite in (False, True):
        with pytest.raises(OutputError, match="not empty and not an exported model"):
            make(str(model), tmp_path, "onnx", overwrite=overwrite)
    with pytest.raises(OutputError, match="is a file; choose a folder"):
        make(str(model), tmp_path / "thesis.txt", "onnx")
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]
    (tmp_path / "embassay.json").write_text("{}")
    with pytest.raises(OutputError, match="not empty and not an exported model"):
        make(str(model), tmp_path, "onnx", overwrite=True)
    assert (tmp_path / "thesis.txt").is_file()


@pytest.mark.usefixtures("traced_once")
def test_an_exported_model_is_replaced_on_request_only(model, tmp_path, monkeypatch):
    nothing = fidelity.Fidelity(0, 1.0, 1.0, 0.0, 1.0, 0, ())
    monkeypatch.setattr(fidelity, "measure", lambda *given: nothing)
    make(str(model), tmp_path / "out", "openvino")
    with pytest.raises(
        OutputError, match="already contains an exported model; choose another folder with -o, or add --overwrite"
    ):
        make(str(model), tmp_path / "out", "onnx")

    def fail(*given):
        raise EncoderError("out of luck")

    monkeypatch.setattr(fidelity, "measure", fail)
    with pytest.raises(EncoderError, match="out of luck"):
        make(str(model), tmp_path / "out", "onnx", overwrite=True)
    assert (tmp_path / "out" / "openvino_model.xml").is_file()
    monkeypatch.setattr(fidelity, "measure", lambda *given: nothing)
    make(str(model), tmp_path / "out", "onnx", overwrite=True)
    assert (tmp_path / "out" / "model.onnx").is_file()
    assert not (tmp_path / "out" / "openvino_model.xml").exists()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


@pytest.mark.usefixtures("traced_once")
@pytest.mark.parametrize(
    ("lowest", "difference", "told"),
    [
        (
            0.9,
            0.0,
            r"gives other vectors than the model \(the lowest cosine .* is 0\.900000\); nothing was",
        ),
        (1.0, 3.0, r"\(a coordinate differs by 3, the longest vector has length 7\)"),
    ],
)
def test_a_graph_that_gives_other_vectors_is_not_kept(model, tmp_path, monkeypatch, lowest, difference, told):
    found = fidelity.Fidelity(9, lowest, 1.0, difference, 7.0, 0, ())
    monkeypatch.setattr(fidelity, "measure", lambda *given: found)
    with pytest.raises(EncoderError, match=told):
        make(str(model), tmp_path / "out", "openvino")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("traced_once")
@pytest.mark.parametrize(("to", "error"), [("openvino", OSError(28, "No space left on device")), ("onnx", None)])
def test_what_stops_an_export_is_said_and_leaves_nothing(model, tmp_path, monkeypatch, capsys, to, error):
    def stop(*given):
        raise error or KeyboardInterrupt

    monkeypatch.setattr(fidelity, "measure", stop)
    code = exit_code_of(["export", str(model), "-o", str(tmp_path / "out"), "--to", to])
    said = capsys.readouterr().err
    if error:
        assert (code, f"{tmp_path / 'out'}: cannot be written: No space left on device" in said) == (2, True)
    else:
        assert (code, "interrupted; nothing was written" in said) == (130, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("traced_once")
def test_a_runtime_that_cannot_write_is_an_error_of_the_export(model, tmp_path, monkeypatch):
    def fail(*given):
        raise RuntimeError("basic_ios::clear: iostream error\nmore")

    monkeypatch.setattr(writing, "_convert", fail)
    with pytest.raises(
        EncoderError, match=r"openvino cannot .* \([\d,]+ MB free in the folder\): basic_ios::clear: iostream"
    ):
        make(str(model), tmp_path / "out", "openvino")
    assert list(tmp_path.iterdir()) == []


def test_places_that_cannot_be_written_are_refused_before_any_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match="is the current folder; choose another"):
        make("no such model", Path(), "onnx")
    with pytest.raises(SpecError, match="must not contain a comma"):
        make("no such model", Path("a,b"), "onnx")
    with pytest.raises(SpecError, match="export to 'tflite': must be onnx or openvino"):
        make("no such model", Path("out"), "tflite")


@pytest.mark.usefixtures("traced_once")
def test_what_a_killed_export_left_is_removed(model, tmp_path, monkeypatch):
    (tmp_path / ".out.exporting").mkdir()
    (tmp_path / ".out.exporting" / "half").write_text("half")
    monkeypatch.setattr(fidelity, "measure", lambda *given: fidelity.Fidelity(0, 1.0, 1.0, 0.0, 1.0, 0, ()))
    make(str(model), tmp_path / "out", "openvino")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert not (tmp_path / "out" / "half").exists()


def test_a_missing_library_is_named(model, tmp_path, monkeypatch):
    find = exporting_module.importlib.util.find_spec
    monkeypatch.setattr(
        exporting_module.importlib.util, "find_spec", lambda name: None if name == "onnx" else find(name)
    )
    with pytest.raises(
        MissingExtraError, match=r"export to onnx needs the extra 'onnx': pip install 'embassay\[onnx\]'"
    ):
        make(str(model), tmp_path / "out", "onnx")


@dataclass(frozen=True)
class Noisy:
    """Vectors by text, and the same with noise, times a factor."""

    noise: float
    factor: float = 1.0
    name = "noisy"
    card: Card = field(default_factory=lambda: Card("noisy"), compare=False)

    def encode(self, texts, role="text"):
        rows = []
        for text in texts:
            rng = np.random.default_rng(list(f"{role}{text}".encode()))
            rows.append(rng.standard_normal(8) + self.noise * rng.standard_normal(8))
        return np.array(rows, dtype=np.float32) * np.float32(self.factor)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def test_fidelity_equals_a_naive_count():
    a, b = Noisy(0.0), Noisy(0.4)
    found = fidelity.measure(a, b, [])
    corpora = {name: ea.load(name) for name in ("opposites", "handbook")}
    texts = list(dict.fromkeys(text for corpus in corpora.values() for text in corpus.texts()))
    before, after = (np.concatenate([e.encode([t], role) for role, t in texts]).astype(float) for e in (a, b))
    cosine = (unit(before) * unit(after)).sum(axis=1)
    assert found.texts == len(texts) == 716
    assert np.isclose(found.cosine_min, cosine.min(), atol=1e-12)
    assert np.isclose(found.cosine_median, np.median(cosine), atol=1e-12)
    assert np.isclose(found.largest_difference, np.abs(before - after).max())
    flipped = 0
    for s in corpora["opposites"].samples:
        chosen = [
            np.argmax(unit(e.encode([s.antonym, s.polarity, s.paraphrase])) @ unit(e.encode([s.input]))[0])
            for e in (a, b)
        ]
        flipped += chosen[0] != chosen[1]
    handbook, lost = corpora["handbook"], 0
    documents = [d.passages[0] for d in handbook.documents]
    near = {e: unit(e.encode(documents, "document").astype(float)) for e in (a, b)}
    for s in handbook.samples:
        best = [
            set(np.argsort(-near[e] @ unit(e.encode([s.question], "query").astype(float))[0])[:5].tolist())
            for e in (a, b)
        ]
        lost += len(best[0] - best[1])
    changed = {c.corpus: (c.differ, c.total) for c in found.changed}
    assert changed == {"opposites": (flipped, 280), "handbook": (lost, 675)}
    assert 0 < flipped < 280
    assert 0 < lost < 675


def test_vectors_that_vanish_or_are_not_finite_are_seen():
    found = fidelity.measure(Noisy(0.0), Noisy(0.0, factor=0.0), [])
    assert (found.cosine_min, found.cosine_median, found.undefined) == (0.0, 0.0, 0)
    assert fidelity.measure(Noisy(0.0), Noisy(0.0, factor=7.0), []).largest_difference > 6
    with pytest.raises(EncoderError, match="noisy: it returned a vector with NaN or infinity"):
        fidelity.measure(Noisy(0.0), Noisy(0.0, factor=float("nan")), [])
    with pytest.raises(EncoderError, match="noisy: all vectors are zero"):
        fidelity.measure(Noisy(0.0, factor=0.0), Noisy(0.0, factor=0.0), [])


def test_cosines_are_never_shown_as_more_than_they_are():
    shown = {1.0: "1", 1 - 5e-13: "1 − 5e-13", 1 - 2e-6: "0.999998", 0.9999999: "1 − 1e-07", 0.5: "0.500000"}
    for value, text in shown.items():
        assert f"lowest {text}, median" in fidelity.Fidelity(1, value, value, 0.0, 1.0, 0, ()).sentences()[0]


def test_texts_of_a_corpus_that_is_given_are_compared():
    corpus = ea.load("vignettes")
    found = fidelity.measure(Noisy(0.0), Noisy(0.0), [corpus])
    assert found.texts == len(corpus.texts())
    assert found.sentences()[0].endswith("lowest 1, median 1; largest difference in any coordinate 0")
    assert [(c.corpus, c.differ) for c in found.changed] == [("opposites", 0), ("handbook", 0)]
    assert [c.corpus for c in fidelity.measure(Noisy(0), Noisy(0), [ea.load("opposites")]).changed] == [
        "opposites",
        "handbook",
    ]
