"""Objects of other libraries as encoders: how they are recognised, their roles, and when their vectors are kept."""

import numpy as np
import pytest

import embassay as ea
from embassay.core.errors import SpecError
from embassay.core.samples.base import Role
from embassay.models.objects.foreign import own_name
from embassay.run.cache.cache import VectorCache
from embassay.run.resolve import load_encoder

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
        self.similarity_fn_name = "dot"

    def encode(self, texts):
        return np.array(rows(texts))

    def encode_query(self, texts):
        return np.array(rows(texts, 100))

    def encode_document(self, texts):
        return np.array(rows(texts, 200))


class Plain:
    def __init__(self, **more):
        vars(self).update(more)

    def encode(self, texts):
        return np.array(rows(texts))


class Letters:
    """Means of the vectors of letters."""

    def __init__(self, seed):
        self.train(seed)

    def train(self, seed):
        self._weights = np.random.default_rng(seed).standard_normal((128, 4))

    def encode(self, texts):
        return np.array([self._weights[[ord(letter) % 128 for letter in text + " "]].mean(axis=0) for text in texts])


@pytest.mark.parametrize(
    ("thing", "query", "document"),
    [(LangChain(), 100, 0), (LlamaIndex(), 100, 0), (Sentences(), 100, 200), (Plain(), 0, 0)],
)
def test_each_role_goes_the_objects_own_way(thing, query, document):
    encoder = ea.encoder(thing)
    shift: dict[Role, float] = {"text": 0, "query": query, "document": document}
    for role, by in shift.items():
        found = encoder.encode(TEXTS, role)
        assert found.dtype == np.float32
        assert found.tolist() == np.float32(rows(TEXTS, by)).tolist()


def test_what_it_says_of_itself():
    card = ea.encoder(Sentences()).card
    assert card.similarity == "dot"
    assert card.spec.startswith("object:")
    assert card.spec.endswith("Sentences")


def test_an_encoder_stays_itself():
    own = load_encoder("bow")
    assert ea.encoder(own) is own
    for options in ({"name": "other"}, {"version": "1"}):
        with pytest.raises(SpecError, match="its own name and fingerprint"):
            ea.encoder(own, **options)


@pytest.mark.parametrize("thing", [3, object(), Plain])
def test_what_is_no_encoder_is_refused(thing):
    with pytest.raises(SpecError, match=r"pass a function of a list of texts|pass an instance"):
        ea.encoder(thing)


def test_names():
    assert own_name(LangChain(model="org/name")) == "org/name"
    assert own_name(LlamaIndex()) == "LlamaIndex"
    assert own_name(LangChain(model="https://user:pass@host/x")) == "LangChain"
    assert ea.encoder(Plain(), name="mine").name == "mine"


def assayed(thing, cache, **more):
    return ea.assay([ea.encoder(thing, name="mine", **more)], ["opposites"], ["isotropy"], baselines=False, cache=cache)


def test_an_object_without_a_version_works_and_nothing_of_it_is_kept(tmp_path):
    model = Letters(0)
    note = r'^mine: the object.s content cannot be fingerprinted, so its vectors .* ea\.encoder\(object, version="1"\)$'
    with pytest.warns(UserWarning, match=note) as warned:
        before = assayed(model, tmp_path)
    assert len(warned) == 1
    model.train(1)
    with pytest.warns(UserWarning, match=note):
        after = assayed(model, tmp_path)
    assert [row.value for row in after.rows] != [row.value for row in before.rows]
    assert after.encoders[0].fingerprint != before.encoders[0].fingerprint
    cache = VectorCache(tmp_path)
    assert cache.info() == []


def test_an_object_with_a_version_is_encoded_once(tmp_path):
    model = Letters(0)
    first = assayed(model, tmp_path, version="1")
    assert first.encoders[0].spec.endswith("Letters,version=1")
    model.encode = lambda texts: pytest.fail("it was encoded again")
    assert assayed(model, tmp_path, version="1").rows == first.rows
    with pytest.raises(pytest.fail.Exception, match="encoded again"):
        assayed(model, tmp_path, version="2")


def test_equal_versions_of_other_classes_and_models_have_other_fingerprints():
    things = [LangChain(), LangChain(model="a/b"), LangChain(model="a/c"), LlamaIndex(), Plain(), Sentences()]
    assert len({ea.encoder(thing, version="1").fingerprint for thing in things}) == len(things)


@pytest.mark.slow
def test_langchain_and_llama_index_themselves():
    embeddings = pytest.importorskip("langchain_core.embeddings", reason="langchain-core is not installed")
    llama = pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    for thing in (embeddings.DeterministicFakeEmbedding(size=8), llama.MockEmbedding(embed_dim=8)):
        encoder = ea.encoder(thing)
        assert encoder.encode(TEXTS, "query").shape == (3, 8)
        assert encoder.encode(TEXTS, "text").shape == (3, 8)
        assert ea.encoder(thing, version="1").fingerprint == ea.encoder(thing, version="1").fingerprint
