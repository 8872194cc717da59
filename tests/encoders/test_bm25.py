"""BM25: by hand, as a loop over words, at the ends of its constants, and on real questions."""

from math import log

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import issparse

from embassay.core.errors import EncoderError, SpecError
from embassay.run.resolve import load_encoder

PASSAGES = ["a b", "a a c d"]
texts = st.lists(st.text("abcé .", max_size=14), min_size=1, max_size=8)


def scores(encoder, questions, passages):
    return (encoder.encode(questions, "query") @ encoder.encode(passages, "document").T).toarray()


def naive(question, passage, passages, k1, b):
    """The formula, word by word of the question."""
    cut = [p.lower().replace(".", " ").split() for p in passages]
    words, n = passage.lower().replace(".", " ").split(), len(passages)
    mean_length = sum(map(len, cut)) / n
    total = 0.0
    for word in question.lower().replace(".", " ").split():
        df, tf = sum(word in p for p in cut), words.count(word)
        if df and tf:
            idf = log(1 + (n - df + 0.5) / (df + 0.5))
            total += idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * len(words) / mean_length))
    return total


def test_by_hand():
    # "a" is in both: idf = ln(1 + 0.5/2.5) = ln 1.2. Mean length 3, so the first is damped by 1.2 · (¼ + ¾ · ⅔) = 0.9
    # and the second by 1.2 · (¼ + ¾ · 4/3) = 1.5. "c" is in one: idf = ln(1 + 1.5/1.5) = ln 2.
    encoder = load_encoder("bm25").fit(PASSAGES)
    first, second = log(1.2) * 2.2 / (1 + 0.9), log(1.2) * 4.4 / (2 + 1.5)
    assert scores(encoder, ["a"], PASSAGES) == pytest.approx(np.array([[first, second]]))
    assert scores(encoder, ["C a a"], PASSAGES) == pytest.approx(
        np.array([[2 * first, 2 * second + log(2) * 2.2 / (1 + 1.5)]])
    )


@pytest.mark.slow
@given(texts, texts, st.floats(0, 3), st.floats(0, 1))
def test_scores_equal_a_loop_over_words(passages, questions, k1, b):
    assume(any(p.replace(".", " ").split() for p in passages))
    encoder = load_encoder(f"bm25,k1={k1:.6f},b={b:.6f}").fit(passages)
    expected = [[naive(q, p, passages, round(k1, 6), round(b, 6)) for p in passages] for q in questions]
    assert scores(encoder, questions, passages) == pytest.approx(np.array(expected), rel=1e-5, abs=1e-7)


def test_with_b_of_0_length_does_not_count_and_with_1_it_does():
    passages = ["a b", "a c d e f g"]
    none, whole = (load_encoder(f"bm25,b={b}").fit(passages) for b in (0, 1))
    assert np.ptp(scores(none, ["a"], passages)) == 0
    # Mean length 4: damped by 1.2 · 2/4 and by 1.2 · 6/4.
    expected = np.array([[log(1.2) * 2.2 / 1.6, log(1.2) * 2.2 / 2.8]])
    assert scores(whole, ["a"], passages) == pytest.approx(expected)


def test_questions_are_counts_and_passages_are_weights():
    encoder = load_encoder("bm25").fit(PASSAGES)
    assert list(encoder.columns) == ["a", "b", "c", "d"]
    questions, passages = (encoder.encode(["d a a"], role) for role in ("query", "document"))
    assert questions.toarray().tolist() == [[2, 0, 0, 1]]
    assert issparse(questions)
    assert questions.dtype == passages.dtype == np.float32
    assert (encoder.encode(["d a a"], "text") != passages).nnz == 0


@pytest.mark.parametrize("passages", [[], [""], ["?!", "…"]])
def test_texts_without_words_cannot_be_learnt_from(passages):
    with pytest.raises(EncoderError, match="bm25: the texts contain no words"):
        load_encoder("bm25").fit(passages)


def test_it_has_to_be_fitted():
    with pytest.raises(EncoderError, match=r"call fit\(texts\) first"):
        load_encoder("bm25").encode(["a"], "query")


def test_it_is_known_by_its_texts_and_its_constants():
    fitted = [
        load_encoder(spec).fit(passages).fingerprint
        for spec, passages in (
            ("bm25", PASSAGES),
            ("bm25,k1=1", PASSAGES),
            ("bm25,b=0.5", PASSAGES),
            ("bm25", ["a b", "a a c e"]),
            ("bm25", ["a b", "a a c d d"]),
            ("bm25", ["a b", "b a c d"]),
        )
    ]
    assert len(set(fitted)) == len(fitted)
    assert load_encoder("bm25").fit(PASSAGES[::-1]).fingerprint == fitted[0]


@pytest.mark.parametrize("options", ["k1=-0.1", "k1=inf", "k1=nan", "b=-0.1", "b=1.1", "b=nan"])
def test_constants_out_of_range(options):
    with pytest.raises(SpecError, match=r"option '(k1|b)': must be (greater|less) than"):
        load_encoder(f"bm25,{options}")


def test_identifiers_count_as_one_word_besides_their_parts():
    passages = ["see TS 38.331, os.path.join", "38 of 331 end", "join os"]
    plain = load_encoder("bm25").fit(passages)
    whole = load_encoder("bm25,tokens=identifiers").fit(passages)
    assert set(whole.columns) - set(plain.columns) == {"38.331", "os.path.join"}
    # Only with whole identifiers is the passage ahead that has the same one, though it is longer.
    assert scores(plain, ["38.331"], passages).argmax() == 1
    assert scores(whole, ["38.331"], passages).argmax() == 0


def test_words_are_stemmed_and_stop_words_left_out():
    passages = ["the networks are configured", "a network configures it", "der Kanal"]
    encoder = load_encoder("bm25,stemmer=english,stopwords=english").fit(passages)
    assert set(encoder.columns) == {"network", "configur", "der", "kanal"}
    # Stop words do not count in the length either.
    assert encoder.mean_length == 2
    assert list(load_encoder("bm25,stemmer=german").fit(["Kanäle", "Kanal"]).columns) == ["kanal"]


def test_each_option_of_words_is_in_spec_and_fingerprint(tmp_path):
    options = ["", ",tokens=identifiers", ",stopwords=english", ",stemmer=english", ",stemmer=german"]
    encoders = [load_encoder(f"bm25{option}") for option in options]
    assert [encoder.card.spec for encoder in encoders] == [f"bm25{option}" for option in options]
    assert len({encoder.fit(["kanal"]).fingerprint for encoder in encoders}) == len(options)
