"""Sentences and their places in the text."""

from __future__ import annotations

import json

import pytest
import sentencex

from embassay.corpora.io import passages
from embassay.corpora.io.passages import collapsed, sentences, whole_sentences


def at_once(text, language="en"):
    """Return what the library finds when it is given the whole text."""
    found, place = [], 0
    for part in sentencex.segment(language, text):
        if core := part.strip():
            place = text.index(core, place)
            found.append((place, collapsed(core)))
            place += len(core)
    return found


@pytest.mark.parametrize("end", [" ", "\n", "  \t", "\n\n  "])
def test_a_long_paragraph_has_the_sentences_that_the_library_finds(end):
    parts = [f"Sentence {n} of Dr. Who (see p. {n}. And on) said “No. {n} is it.” loudly." for n in range(2_000)]
    text = end.join(parts)
    assert sentences(text) == at_once(text)


def test_a_dotted_name_is_not_divided():
    text = "Call np.Array here. Set settings.TIME_ZONE to v1.2. Done!Next. Ende."
    assert len(sentences(text)) > 4
    assert whole_sentences(text)[:2] == ["Call np.Array here.", "Set settings.TIME_ZONE to v1.2."]


@pytest.mark.parametrize(
    ("file", "language"),
    [("xquad_en/xquad.en.json", "en"), ("xquad_multi/xquad.de.json", "de"), ("xquad_multi/xquad.zh.json", "zh")],
)
def test_real_documents_have_the_same_sentences(file, language, data):
    articles = json.loads((data / file).read_text(encoding="utf-8"))["data"]
    contexts = [paragraph["context"] for article in articles for paragraph in article["paragraphs"]]
    plain = [passages._SPACE.sub(" ", context) for context in contexts]
    assert [sentences(text, language) for text in plain] == [at_once(text, language) for text in plain]
    document = "\n\n".join(plain)
    assert sentences(document, language) == at_once(document, language)
    if language == "en":
        paragraph = " ".join(plain)
        assert sentences(paragraph) == at_once(paragraph)
