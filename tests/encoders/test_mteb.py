"""Models of mteb's registry: names, prompts of roles, what is refused."""

import re
from contextlib import suppress
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from embassay.core.errors import EncoderError, SpecError, UnknownNameError
from embassay.core.types import Runtime
from embassay.models.objects.mteb import ANSWERS, SAME
from embassay.run.resolve import load_encoder

pytestmark = pytest.mark.skipif(find_spec("mteb") is None, reason="the mteb extra is not installed")
ROLES = ("text", "query", "document")
RANDOM = "mteb:mteb/baseline-random-encoder"
"""In the registry, without a file: each text's vector is drawn from its content."""


def test_a_model_gives_what_mteb_gives():
    import mteb

    texts = ["The shop is open.", "It rains.", "The shop is open."]
    encoder = load_encoder(f"{RANDOM}")
    found = encoder.encode(texts)
    assert found.dtype == np.float32
    assert found.shape[0] == 3
    assert np.array_equal(found[0], found[2])
    assert not np.array_equal(found[0], found[1])
    assert encoder.fingerprint == load_encoder(RANDOM).fingerprint
    assert encoder.card.revision == mteb.get_model_meta("mteb/baseline-random-encoder").revision


def test_prompts_of_roles_are_the_registrys():
    card = load_encoder("mteb:intfloat/e5-small-v2").card
    assert card.prompts == {"query": "query: ", "document": "passage: "}
    assert "none for plain texts" in card.warnings[0]
    assert len(card.revision) == 40


def test_the_nearest_name_is_said():
    with pytest.raises(UnknownNameError, match="did you mean 'intfloat/e5-small-v2'"):
        load_encoder("mteb:intfloat/e5-smal-v2")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("mteb:mteb/baseline-random-cross-encoder", "does not return one vector"),
        ("mteb:nomic-ai/nomic-embed-text-v1", "add --trust-remote-code LABEL"),
        ("mteb:infgrad/Jasper-Token-Compression-600M", "add --trust-remote-code LABEL"),
        ("mteb:axiotic/ogma-small", "add --trust-remote-code LABEL"),
        ("mteb:google/tipsv2-b14", "add --trust-remote-code LABEL"),
        ("mteb:nvidia/RADIO-B", "does not return one vector"),
        (
            "mteb:mteb/baseline-hybrid-rrf-baseline-bm25s-multilingual-e5-small",
            "does not return one vector",
        ),
    ],
)
def test_what_cannot_be_run_is_refused(spec, said):
    with pytest.raises(SpecError, match=said):
        load_encoder(spec)


def test_no_model_that_needs_no_trust_runs_code_of_its_own():
    import inspect

    import mteb

    from embassay.models.objects.mteb import runs_own_code

    free = [meta for meta in mteb.get_model_metas() if meta.loader and not runs_own_code(meta)]
    assert len(free) > 400
    for loader in {getattr(meta.loader, "func", meta.loader) for meta in free}:
        assert not re.search(r"trust_remote_code(: bool)? *= *True", inspect.getsource(loader)), loader
    assert not [meta.name for meta in free if "'trust_remote_code': True" in repr(meta.loader_kwargs)]


def test_a_fingerprint_is_the_same_in_every_process(monkeypatch):
    import importlib.metadata

    import mteb

    from embassay.models.objects.mteb import create

    monkeypatch.setattr(importlib.metadata, "version", lambda name: "2")  # looked up again for each: slow
    metas = {meta.name: meta for meta in mteb.get_model_metas() if meta.loader}
    monkeypatch.setattr("embassay.models.neural.model.content_hash", repr)
    monkeypatch.setattr(mteb, "get_model_meta", metas.get)
    told = {}
    for name in metas:
        with suppress(SpecError):
            told[name] = create(name, Runtime(trust_remote_code=True)).fingerprint
    assert len(told) > 400
    assert not [name for name, text in told.items() if re.search("0x[0-9a-f]{4}", text)]
    assert "instruction_template" in told["Octen/Octen-Embedding-0.6B"]


@pytest.mark.parametrize("name", ["mteb/baseline-random-encoder", "openai/text-embedding-3-small"])
def test_asking_loads_nothing_where_no_commit_identifies_the_weights(name, monkeypatch):
    from mteb.models import ModelMeta

    monkeypatch.setattr(ModelMeta, "load_model", lambda *args, **options: pytest.fail("asking has loaded a model"))
    encoder = load_encoder(f"mteb:{name}", Runtime(trust_remote_code=True))
    assert encoder.fingerprint == load_encoder(f"mteb:{name}", Runtime(trust_remote_code=True)).fingerprint
    assert encoder.route()
    assert any("names no commit of this model" in warning for warning in encoder.card.warnings)


@pytest.mark.parametrize("kind", ["plain", "instructed"])
def test_a_model_of_random_weights_goes_the_registrys_way(kind, tmp_path, monkeypatch):
    import mteb
    from mteb.models import ModelMeta
    from mteb.models.instruct_wrapper import InstructSentenceTransformerModel
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper
    from sentence_transformers import SentenceTransformer

    found = spec_from_file_location("tiny_model", Path(__file__).parents[1] / "tiny_model.py")
    tiny = module_from_spec(found)
    found.loader.exec_module(tiny)
    tiny.make(tmp_path)
    monkeypatch.chdir(tmp_path.parent)
    name = f"{tmp_path.name}/model"
    loader, settings = {
        "plain": (SentenceTransformerEncoderWrapper, {"model_prompts": {"query": "query: ", "document": "passage: "}}),
        "instructed": (InstructSentenceTransformerModel, {"instruction_template": "{instruction}: "}),
    }[kind]
    told = {"name": name, "loader": loader, "loader_kwargs": settings, "revision": "1" * 40}
    meta = ModelMeta.create_empty(overwrites=told)
    monkeypatch.setattr(mteb, "get_model_meta", lambda asked: meta)
    encoder = load_encoder(f"mteb:{name}", Runtime(device="cpu"))
    assert encoder.card.prompts.keys() == ({"query", "document"} if kind == "plain" else set())
    texts = ["The shop is open.", "It rains."]
    bare = SentenceTransformer(str(tmp_path / "model"), device="cpu")
    for role in ROLES:
        prompt = encoder.card.prompts.get(role)
        if kind == "instructed":
            # mteb's own wrapper puts the instruction before the text, in each role but that of documents.
            prompt = f"{SAME if role == 'text' else ANSWERS[role]}: "
        expected = bare.encode(texts, prompt=prompt)
        assert np.allclose(encoder.encode(texts, role), expected, atol=1e-6)


def test_its_own_code_may_be_trusted():
    assert load_encoder("mteb:nomic-ai/nomic-embed-text-v1", Runtime(trust_remote_code=True)).card.prompts


def test_a_model_that_is_not_here_is_the_encoders_failure():
    with pytest.raises(EncoderError, match="cannot be loaded"):
        load_encoder("mteb:intfloat/e5-small-v2").encode(["a"])
