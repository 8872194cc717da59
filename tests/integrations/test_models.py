"""An encoder as BEIR's model and as SentEval's batcher; the bridge to mteb without mteb."""

import numpy as np
import pytest

import embassay as ea
from embassay.errors import EncoderError, MissingExtraError, SpecError
from embassay.integrations import BeirModel, batcher, mteb_model, mteb_task


class Roles:
    """Tells the role and the text by the vector."""

    def encode(self, texts):
        return np.array([[0.0, len(text)] for text in texts])

    def encode_query(self, texts):
        return np.add(self.encode(texts), [1, 0])

    def encode_document(self, texts):
        return np.add(self.encode(texts), [2, 0])


@pytest.fixture
def encoder():
    return ea.encoder(Roles())


def test_beir_encodes_questions_and_titled_documents(encoder):
    model = BeirModel(encoder)
    assert model.encode_queries(["ab"], batch_size=2, show_progress_bar=False, convert_to_tensor=True).tolist() == [
        [1, 2]
    ]
    documents = [{"title": "a", "text": "bc"}, {"text": " de "}, "f"]
    # As BEIR's own models put them: "a bc", "de", "f".
    assert model.encode_corpus(documents, batch_size=2).tolist() == [[2, 4], [2, 2], [2, 1]]
    assert model.encode_corpus({"title": ["a", ""], "text": ["bc", "d"]}).tolist() == [[2, 4], [2, 1]]


def test_beir_says_which_document_has_no_text(encoder):
    with pytest.raises(SpecError, match="document 1 has no text; its fields: title"):
        BeirModel(encoder).encode_corpus([{"text": "a"}, {"title": "b"}])


def test_a_title_of_none_is_no_title(encoder):
    documents = [{"title": None, "text": "bc"}, {"title": "", "text": "d"}]
    assert BeirModel(encoder).encode_corpus(documents).tolist() == [[2, 2], [2, 1]]
    assert BeirModel(encoder).encode_corpus({"title": [None], "text": ["bc"]}).tolist() == [[2, 2]]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"text": None}, "document 1, field 'text': must be a str, is NoneType"),
        ({"title": 5, "text": "a"}, "document 1, field 'title': must be a str, is int"),
        (3, "document 1 must be a text or have a field text, is int"),
    ],
)
def test_beir_refuses_what_is_no_text(encoder, document, said):
    with pytest.raises(SpecError, match=said):
        BeirModel(encoder).encode_corpus(["a", document])


def test_beir_refuses_questions_that_are_none(encoder):
    with pytest.raises(SpecError, match="text 1 must be a str, is NoneType"):
        BeirModel(encoder).encode_queries(["a", None])
    with pytest.raises(SpecError, match="needs a list of texts, not a single text"):
        BeirModel(encoder).encode_queries("who sleeps?")


def test_no_texts_have_no_vectors_of_the_known_length(encoder, tmp_path):
    assert BeirModel(ea.encoder("hashing,dim=8")).encode_queries([]).shape == (0, 8)
    assert BeirModel(encoder).encode_corpus([]).shape == (0, 2)
    assert batcher(ea.encoder("bow").fit(["a b"]))({}, []).shape == (0, 2)
    path = tmp_path / "vectors.jsonl"
    path.write_text('{"text": "a", "vector": [1, 2]}\n', encoding="utf-8")
    with pytest.raises(EncoderError, match=r"no texts, and the number of dimensions of .* is unknown"):
        BeirModel(ea.encoder(f"vectors:{path}")).encode_queries([])


def test_an_encoder_may_be_named_by_its_spec():
    assert BeirModel("hashing,dim=8").encode_queries(["a"]).shape == (1, 8)
    assert batcher("hashing,dim=8")({}, ["a"]).shape == (1, 8)
    for make in (BeirModel, batcher):
        with pytest.raises(SpecError, match="NoneType is not an encoder"):
            make(None)


def test_senteval_s_bytes_are_read_as_utf_8(encoder):
    assert batcher(encoder)({}, [["é".encode(), b"b"], b"ab"]).tolist() == [[0, 3], [0, 2]]
    with pytest.raises(SpecError, match=r"sentence 1: .* is not UTF-8"):
        batcher(encoder)({}, ["a", [b"\xff"]])


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        (None, "sentence 0 must be a list of tokens, is NoneType"),
        (["a", None], "sentence 0: a token must be str or bytes, is NoneType"),
    ],
)
def test_senteval_refuses_what_is_no_sentence(encoder, sentence, said):
    with pytest.raises(SpecError, match=said):
        batcher(encoder)({}, [sentence])


def test_senteval_joins_tokens(encoder):
    assert batcher(encoder)({}, [["a", "b"], [], "abc"]).tolist() == [[0, 3], [0, 1], [0, 3]]


def test_sparse_vectors_become_dense():
    encoder = ea.encoder("bow").fit(["a b", "b c"])
    found = batcher(encoder)({}, [["a", "b"], ["c"]])
    assert isinstance(found, np.ndarray)
    assert found.sum(axis=1).tolist() == [2, 1]


def test_beirs_own_search_takes_the_model():
    search = pytest.importorskip("beir.retrieval.search.dense", reason="beir is not installed")
    model = search.DenseRetrievalExactSearch(BeirModel(ea.encoder("hashing")), batch_size=2)
    corpus = {
        "cats": {"title": "Cats", "text": "The cat sleeps."},
        "rain": {"title": "Rain", "text": "It rains today."},
    }
    found = model.search(corpus, {"q": "a cat sleeps", "r": "it rains"}, 1, "cos_sim")
    assert [max(hits, key=hits.get) for hits in found.values()] == ["cats", "rain"]


def test_without_mteb_the_line_is_said(monkeypatch):
    from embassay.integrations import mteb as bridge

    monkeypatch.setattr(bridge, "find_spec", lambda name: None)
    bridge._task_class.cache_clear()
    with pytest.raises(MissingExtraError, match=r"pip install 'embassay\[mteb\]'"):
        mteb_task("opposites", "negated_antonyms")
    with pytest.raises(MissingExtraError, match="mteb"):
        mteb_model(ea.encoder("hashing"))
