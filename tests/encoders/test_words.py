"""Word vectors: every form of file, what is odd in one, and how words are pooled."""

import gzip
import importlib.util
import io
import pickle
import struct
import zipfile

import numpy as np
import pytest

from embassay.core.errors import EncoderError, MissingExtraError, SourceError
from embassay.models.static.word_files import read
from embassay.run.resolve import load_encoder

WORDS = ["the", "The", "cat", "sat", "café", "on", ".", "mat", "中文", "rain"]
MATRIX = np.round(np.random.default_rng(5).standard_normal((len(WORDS), 6)), 4).astype(np.float32)
TEXTS = ["The cat sat on the mat.", "RAIN, rain!", "unknown words only", "", "Café 中文"]


def lines():
    return [f"{word} {' '.join(f'{x:.4f}' for x in row)}" for word, row in zip(WORDS, MATRIX, strict=True)]


def binary(newline=b"\n", words=WORDS, matrix=MATRIX, promised=None):
    records = [word.encode() + b" " + row.tobytes() + newline for word, row in zip(words, matrix, strict=True)]
    return f"{promised or len(words)} {matrix.shape[1]}\n".encode() + b"".join(records)


def zipped(files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


FORMS = {
    "glove": "\n".join([*lines(), ""]).encode(),
    "glove without a last newline": "\n".join(lines()).encode(),
    "glove from Windows": "\r\n".join([*lines(), "", ""]).encode(),
    "glove, gzipped": gzip.compress("\n".join(lines()).encode()),
    "glove with a byte-order mark": b"\xef\xbb\xbf" + "\n".join(lines()).encode(),
    "glove with tabs": "\n".join(lines()).replace(" ", "\t").encode(),
    "glove with a tab after the word": "\n".join(line.replace(" ", "\t", 1) for line in lines()).encode(),
    "glove with blank lines": "\n\n".join(lines()).encode(),
    "word2vec text": "\n".join([f"{len(WORDS)} 6", *(f"{line} " for line in lines())]).encode(),
    "word2vec binary": binary(),
    "word2vec binary without newlines": binary(b""),
    "word2vec binary, gzipped": gzip.compress(binary()),
}


@pytest.fixture
def write(tmp_path):
    def write(content, name="vectors"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else "\n".join(content).encode())
        return path

    return write


@pytest.fixture
def glove(write):
    return write(FORMS["glove"])


def naive_tokens(text):
    """Cut by hand: letters together, marks alone; find each as it is, then lower-cased."""
    spaced = "".join(c if c.isalnum() else f" {c} " for c in text)
    tokens = spaced.split()
    known = [t if t in WORDS else t.lower() for t in tokens]
    return tokens, [WORDS.index(t) for t in known if t in WORDS]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_words_and_numbers(form, write):
    found = read(write(FORMS[form]))
    assert list(found.row) == WORDS
    assert found.matrix.dtype == np.float32
    assert np.array_equal(found.matrix, MATRIX)


@pytest.mark.parametrize("is_binary", [False, True])
def test_mean_is_gensims_own(is_binary, tmp_path):
    keyed = pytest.importorskip("gensim.models.keyedvectors", reason="the words extra is not installed")
    theirs = keyed.KeyedVectors(6)
    theirs.add_vectors(WORDS, MATRIX)
    theirs.save_word2vec_format(str(tmp_path / "v"), binary=is_binary)
    ours = load_encoder(f"words:{tmp_path / 'v'}").encode(TEXTS)
    for text, vector in zip(TEXTS, ours, strict=True):
        known = [WORDS[row] for row in naive_tokens(text)[1]]
        expected = theirs.get_mean_vector(known, pre_normalize=False) if known else np.zeros(6)
        assert np.abs(vector - expected).max() < 1e-6


def test_words_are_looked_up_as_they_are_then_lower_cased(glove):
    encoder = load_encoder(f"words:{glove},pool=sum")
    expected = [MATRIX[naive_tokens(text)[1]].sum(axis=0, dtype=np.float64) for text in TEXTS]
    assert np.allclose(encoder.encode(TEXTS), expected, atol=1e-6)
    assert encoder.card.spec == f"words:{glove},pool=sum"


def test_unknown_words_are_counted(glove):
    # "," "!"; "unknown" "words" "only": 5 of 16; two texts have no known word.
    encoder = load_encoder(f"words:{glove}")
    assert encoder.unknown_words(TEXTS) == (5, 16, 2)
    assert not encoder.encode(["unknown words only", ""]).any()


def test_sif_is_what_the_paper_says(glove):
    texts = ["The cat sat on the mat.", "the rain sat", "cat rain unknown", "on the mat"]
    encoder = load_encoder(f"words:{glove},pool=sif").fit(texts)
    rows = [naive_tokens(text)[1] for text in texts]
    total = sum(len(naive_tokens(text)[0]) for text in texts)
    share = {row: sum(some.count(row) for some in rows) / total for row in range(len(WORDS))}

    def mean(some):
        return sum((1e-3 / (1e-3 + share[row])) * MATRIX[row].astype(float) for row in some) / len(some)

    first = np.linalg.svd(np.array([mean(some) for some in rows]))[2][0]
    for text in [*texts, "café café rain"]:
        own = mean(naive_tokens(text)[1])
        assert np.allclose(encoder.encode([text])[0], own - first * (first @ own), atol=1e-6)


def test_sif_has_to_learn_first(glove):
    with pytest.raises(EncoderError, match="call fit"):
        load_encoder(f"words:{glove},pool=sif").encode(["cat"])


def test_sif_of_texts_without_a_known_word_is_zero(glove):
    encoder = load_encoder(f"words:{glove},pool=sif").fit(["unknown", ""])
    assert not encoder.encode(["unknown"]).any()
    assert encoder.encode(["cat"]).any()


def test_the_fingerprint_is_the_contents_and_the_options(glove, write):
    specs = ["", ",pool=sum", ",pool=sif", ",tokens=treebank"]
    found = [load_encoder(f"words:{glove}{options}").fingerprint for options in specs]
    assert len(set(found)) == len(specs)
    assert load_encoder(f"words:{write(FORMS['glove'], 'copy')}").fingerprint == found[0]
    assert load_encoder(f"words:{write(FORMS['glove'] + b'x 1 2 3 4 5 6', 'other')}").fingerprint != found[0]


def test_treebank_needs_nltk(glove, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "nltk" else found(name))
    with pytest.raises(MissingExtraError, match=r"pip install 'embassay\[words\]'"):
        load_encoder(f"words:{glove},tokens=treebank")


GOOD = ["the 1 2 3", "cat 4 5 6", "sat 7 8 9"]
HEADED = ["3 3", *GOOD]
DAMAGED = "must have 3 finite numbers; correct or remove it"
REFUSED = {
    "empty": ([""], "line 1: unrecognised format"),
    "prose": (["It was a dark and stormy night."], "line 1: unrecognised format"),
    "counts": (["the 120", "of 80"], "line 1: unrecognised format"),
    "ragged": ([*GOOD, "mat 1 2"], f"word 4 ('mat') {DAMAGED}"),
    "no number": ([*GOOD, "mat 1 x 3"], f"word 4 ('mat') {DAMAGED}"),
    "a gap": ([*GOOD, "mat 1  3"], f"word 4 ('mat') {DAMAGED}"),
    "not finite": ([*GOOD, "mat 1 2 nan"], f"word 4 ('mat') {DAMAGED}"),
    "infinite": ([*GOOD, "mat inf 2 3"], f"word 4 ('mat') {DAMAGED}"),
    "too large": ([*GOOD, "mat 1 2 1e39"], f"word 4 ('mat') {DAMAGED}"),
    "header alone": (["3 3", ""], "gives 3 words, but the file has 0;"),
    "header of nothing": (["0 3", *GOOD], "line 1: unrecognised format"),
    "too few words": (["4 3", *GOOD], "gives 4 words, but the file has 3;"),
    "fewer numbers than the header": (["3 4", *GOOD], "word 1 ('the') must have 4 finite numbers"),
    "ragged after a header": (["4 3", *GOOD, "mat 1 2"], f"word 4 ('mat') {DAMAGED}"),
    "more words than the header": ([*HEADED, "mat 1 2 3"], "the header gives 3 words, but the file has 4"),
    "model of fastText": (struct.pack("<102i", 793712314, 12, *[0] * 100), "fastText's .vec file"),
    "pickle of gensim": (pickle.dumps(GOOD), "save_word2vec_format()"),
    "zip": (zipped({"glove.txt": FORMS["glove"]}), "a zip archive; unzip first"),
    "damaged gzip": (FORMS["glove, gzipped"][:-30], "cannot be read: "),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_makes_vectors_wrong_is_refused_with_its_place(case, write):
    content, message = REFUSED[case]
    path = write(content)
    with pytest.raises(SourceError) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_of_a_repeated_word_the_first_vector_counts(write):
    found = read(write([*GOOD, ". . 1 1 1", "the 0 0 0"]))
    assert found.row == {"the": 0, "cat": 1, "sat": 2, ". .": 3}
    assert found.matrix[0].tolist() == [1, 2, 3]


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(SourceError, match="no such file"):
        load_encoder(f"words:{tmp_path / 'none'}")


def test_the_file_is_read_when_it_is_needed_and_its_fault_is_the_encoders(write):
    encoder = load_encoder(f"words:{write([*GOOD * 50, 'mat 1 2 x'])}")
    with pytest.raises(EncoderError, match="word 151"):
        encoder.encode(["cat"])
