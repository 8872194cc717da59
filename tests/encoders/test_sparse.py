"""Sparse models: the vectors of the library, its search, prompts, and what is no sparse model."""

import json

import numpy as np
import pytest
from scipy.sparse import issparse

import embassay as ea
from embassay.core.errors import EncoderError, ModelNotFoundError
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.run.resolve import load_encoder
from tiny_model import make, make_head

library = pytest.importorskip("sentence_transformers", reason="the hf extra is not installed")
TEXTS = [
    "the shop is open .",
    "it rains",
    "the old baker sleeps near the river",
    "a",
    "no",
    "rain",
    "shop",
    "river bed",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return make_head(tmp_path_factory.mktemp("sparse"), "BertForMaskedLM")


def test_the_vectors_are_those_of_the_library(model):
    encoder = load_encoder(f"sparse:{model},device=cpu")
    vectors = encoder.encode(TEXTS)
    assert issparse(vectors)
    assert (vectors.dtype, encoder.card.similarity) == (np.float32, "dot")
    expected = library.SparseEncoder(str(model), device="cpu", local_files_only=True)
    for role, name in (("text", "encode"), ("query", "encode_query"), ("document", "encode_document")):
        of_library = [getattr(expected, name)([text]).to_dense()[0].numpy() for text in TEXTS]
        np.testing.assert_allclose(encoder.encode(TEXTS, role).toarray(), of_library, atol=1e-5)


def test_the_search_is_by_dot_products(model):
    documents = tuple(Document(f"d{n}", (text,)) for n, text in enumerate(TEXTS))
    samples = tuple(Question(f"q{n}", f"{text} ?", (f"d{n}",)) for n, text in enumerate(TEXTS))
    corpus = Corpus("some", "retrieval", samples, documents=documents)
    result = ea.assay([f"s=sparse:{model}"], [corpus], ["retrieval"], baselines=False, examples="all", cache=None)
    # How much room a sparse vector takes depends on its text.
    assert (result.encoders[0].dim, result.encoders[0].vector_bytes) == (141, None)
    encoder = load_encoder(f"sparse:{model}")
    products = (encoder.encode([s.question for s in samples], "query") @ encoder.encode(TEXTS, "document").T).toarray()
    expected = [1 + (row > row[n]).sum() for n, row in enumerate(products)]
    assert [example.values["rank"] for example in result.examples if "rank" in example.values] == expected


def test_a_model_with_dense_vectors_is_refused(tmp_path):
    dense = make(tmp_path)
    for folder in (dense, make_head(tmp_path / "other", "BertModel")):
        with pytest.raises(ModelNotFoundError, match="is no sparse model; without sparse: it has dense vectors"):
            load_encoder(f"sparse:{folder}")


def test_missing_weights_of_an_older_folder_are_not_made_up(model, tmp_path):
    from safetensors.torch import load_file, save_file

    library.SparseEncoder(str(model), device="cpu").save_pretrained(str(tmp_path))
    modules = json.loads((tmp_path / "modules.json").read_text())
    modules[0]["type"] = "sentence_transformers.sparse_encoder.models.MLMTransformer"
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    load_encoder(f"sparse:{tmp_path}").encode(["a"])
    weights = load_file(tmp_path / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if "layer.1" not in name}
    save_file(kept, tmp_path / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(EncoderError, match="weights are missing from its files"):
        load_encoder(f"sparse:{tmp_path}").encode(["a"])
