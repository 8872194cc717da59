"""Retrieval among documents of which only the vectors are at hand, in a folder of parts."""

import json
import shutil

import numpy as np
import polars
import pytest

import embassay as ea
from embassay.cli.app import exit_code_of
from embassay.core.errors import EncoderError
from embassay.run import encode_texts
from embassay.run.resolve import load_candidate

DOCUMENTS = 90
WORDS = (
    "copper kettle harbour lantern meadow orchard granite velvet saffron thunder compass anchor willow marble".split()
)


def encode(folder, documents, **options):
    texts = folder.with_suffix(".parquet")
    polars.DataFrame(documents).write_parquet(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(encode_texts, "ROWS", 25)
        ea.encode_corpus("hashing,dim=64", texts, folder, **options)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with documents, questions about them, and the documents' vectors in parts."""
    place = tmp_path_factory.mktemp("stored")
    stream = np.random.default_rng(5)
    documents, questions = [], []
    for number in range(DOCUMENTS):
        words = stream.choice(WORDS, 6)
        documents.append({"id": f"doc {number}", "text": f"{' '.join(words)} {number}"})
        if number % 3 == 0:
            questions.append({"question": f"where is {words[0]} {words[1]} {number}", "document": f"doc {number}"})
    questions.append({"question": "what do two documents say", "document": ["doc 1", "doc 89"]})
    questions.append({"question": "what does no document say", "document": []})
    (place / "documents.jsonl").write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
    (place / "questions.jsonl").write_text("\n".join(map(json.dumps, questions)), encoding="utf-8")
    encode(place / "parts", documents)
    encode(place / "half", documents, dtype="float16")
    return place


def source(place, name="parts"):
    return f"docs={place / name},questions={place / 'questions.jsonl'}"


def values_of(result, encoder):
    rows = result.rows
    return {(row.metric, row.subset, row.condition): row.value for row in rows if row.encoder == encoder}


def test_it_has_the_figures_of_the_same_documents_in_memory(place):
    in_memory = f"docs={place / 'documents.jsonl'},questions={place / 'questions.jsonl'},passages=document"
    diagnostics = ["retrieval,compare=all"]
    whole = ea.assay(["m=hashing,dim=64"], [in_memory], diagnostics, baselines=False)
    stored = ea.assay([f"m=vectors:{place / 'parts'}"], [source(place)], diagnostics, baselines=False)
    expected, values = values_of(whole, "m"), values_of(stored, "m")
    assert expected.keys() == values.keys()
    # Exams and random documents are drawn by the corpus's fingerprint, which is another one.
    drawn = {"accuracy_l100", "coe", "roe", "psi", "random_similarity"}
    same = [key for key in expected if key[0] not in drawn and "random" not in key[1]]
    assert ("Success@5", "all", "") in same
    for key in same:
        assert values[key] == pytest.approx(expected[key], abs=1e-9), key


def test_questions_are_encoded_and_texts_of_documents_refused(place):
    encoder = load_candidate(f"vectors:{place / 'parts'}")
    model = load_candidate("hashing,dim=64")
    np.testing.assert_allclose(encoder.encode(["a new question"], "query"), model.encode(["a new question"]), rtol=1e-6)
    with pytest.raises(EncoderError, match="has vectors of documents by their ids"):
        encoder.encode(["a text"], "document")


def with_spec(place, copy, spec):
    """Copy the parts, and let their manifest name another model."""
    shutil.copytree(place / "parts", copy)
    manifest = json.loads((copy / "manifest.json").read_text(encoding="utf-8"))
    (copy / "manifest.json").write_text(json.dumps({**manifest, "spec": spec}), encoding="utf-8")
    return copy


@pytest.mark.parametrize("spec", ["python:subprocess:call", "api:m,base_url=http://127.0.0.1:9/v1,key_env=HOME"])
def test_a_manifest_runs_no_code_and_sends_nothing(place, tmp_path, spec, capsys):
    copy = with_spec(place, tmp_path / "copy", spec)
    questions = f"docs={copy},questions={place / 'questions.jsonl'}"
    assert exit_code_of(["run", "-e", f"m=vectors:{copy}", "-c", questions, "-o", str(tmp_path / "run")]) in (2, 3)
    error = " ".join(capsys.readouterr().err.split())
    assert "is named by a file, and such an encoder can run code or send texts to a service" in error
    assert "--trust-remote-code LABEL" in error


def test_a_trusted_manifest_may_name_any_model(place, tmp_path, user_module):
    user_module("mymodel", "import numpy as np\n\ndef encode(texts):\n    return np.ones((len(texts), 64))\n")
    copy = with_spec(place, tmp_path / "copy", "python:mymodel:encode,version=1")
    encoder = load_candidate(f"vectors:{copy}", ea.Runtime(trust_remote_code=True))
    # It is loaded, and then refused for its fingerprint.
    with pytest.raises(EncoderError, match="has changed since it made"):
        encoder.encode(["a question"], "query")
