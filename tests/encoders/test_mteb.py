"""Models of mteb's registry: names, prompts of roles, what is refused."""

import json
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

from embassay.core.errors import ModelNotFoundError, SpecError, UnknownNameError
from embassay.core.types import Runtime
from embassay.run.resolve import load_encoder

pytestmark = pytest.mark.skipif(find_spec("mteb") is None, reason="the mteb extra is not installed")


@pytest.fixture
def registered(tmp_path, monkeypatch):
    """A function that enters a tiny model into the registry, with a loader and its settings."""
    import mteb
    from mteb.models import ModelMeta
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper

    found = spec_from_file_location("tiny_model", Path(__file__).parents[1] / "tiny_model.py")
    tiny = module_from_spec(found)
    found.loader.exec_module(tiny)
    tiny.make(tmp_path)
    monkeypatch.chdir(tmp_path.parent)

    def enter(loader=SentenceTransformerEncoderWrapper, **settings):
        name = f"{tmp_path.name}/model"
        meta = ModelMeta.create_empty(overwrites={"name": name, "loader": loader, "loader_kwargs": settings})
        # A folder has no revision.
        meta = meta.model_copy(update={"revision": None})
        monkeypatch.setattr(mteb, "get_model_meta", lambda asked: meta)
        return name

    return enter


def test_each_role_has_the_prompt_under_its_name(registered):
    from sentence_transformers import SentenceTransformer

    prompts = {"query": "query: ", "document": "passage: ", "STS": "same: "}
    name = registered(model_prompts=prompts)
    encoder = load_encoder(f"mteb:{name}", Runtime(device="cpu"))
    assert encoder.card.prompts == {"text": "same: ", "query": "query: ", "document": "passage: "}
    theirs = SentenceTransformer(name, device="cpu")
    texts = ["The shop is open.", "It rains."]
    for role, prompt in encoder.card.prompts.items():
        assert np.allclose(encoder.encode(texts, role), theirs.encode(texts, prompt=prompt), atol=1e-6)


def test_it_is_the_model_of_st_with_these_prompts(registered):
    name = registered(model_prompts={"query": "query: ", "passage": "not that of a role"})
    card = load_encoder(f"mteb:{name}").card
    assert card.spec == f"st:{name},query_prompt=query: "
    assert any("none for plain texts" in warning for warning in card.warnings)


def test_prompts_of_the_registry_replace_those_in_the_files(registered, tmp_path):
    config = {"prompts": {"query": "Q: ", "document": "D: "}}
    name = registered(model_prompts={"query": "query: "})
    (tmp_path / "model" / "config_sentence_transformers.json").write_text(json.dumps(config))
    card = load_encoder(f"mteb:{name}").card
    assert card.prompts == {"query": "query: "}
    assert card.spec == f"st:{name},document_prompt=,query_prompt=query: "
    assert load_encoder(f"mteb:{registered()}").card.prompts == {"query": "Q: ", "document": "D: "}


def test_the_revision_and_the_prompts_are_the_registrys(monkeypatch):
    from embassay.models.neural import st

    monkeypatch.setattr(st, "create", lambda target, runtime, **options: pytest.fail(repr(options)))
    with pytest.raises(pytest.fail.Exception, match=r"'revision': '[0-9a-f]{40}'.*'query: '.*'passage: '"):
        load_encoder("mteb:intfloat/e5-small-v2")


def test_the_nearest_name_is_said():
    with pytest.raises(UnknownNameError, match="did you mean 'intfloat/e5-small-v2'"):
        load_encoder("mteb:intfloat/e5-smal-v2")


@pytest.mark.parametrize(
    "name",
    [
        "mteb/baseline-random-encoder",
        "mteb/baseline-random-cross-encoder",
        "mteb/baseline-hybrid-rrf-baseline-bm25s-multilingual-e5-small",
        "openai/text-embedding-3-small",
        "infgrad/Jasper-Token-Compression-600M",
        "google/tipsv2-b14",
        "nvidia/RADIO-B",
        "Sailesh97/Hinvec",
    ],
)
def test_what_is_not_loaded_by_sentence_transformers_alone_is_refused(name):
    with pytest.raises(SpecError, match="a loader or settings of its own"):
        load_encoder(f"mteb:{name}")


def test_a_model_that_is_not_here_is_not_found():
    with pytest.raises(ModelNotFoundError, match="not in the local cache"):
        load_encoder("mteb:intfloat/e5-small-v2")
