"""SemAntoNeg, and choice sets in its format: JSON lines with idx, label, input, three sentences.

Source: Vahtola, Creutz & Tiedemann (2022), "It Is Not Easy To Detect Paraphrases", section 3. The
candidates are in the order antonym, polarity, paraphrase; ``label`` is the index of the paraphrase.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from embassay.core.data import SEMANTONEG_V1
from embassay.core.errors import SourceError, quoted
from embassay.core.samples.checks import is_part_of_speech
from embassay.core.samples.choice import Choice
from embassay.core.tables.jsonl import KINDS, first_fields
from embassay.core.tables.rows import FileRow, named_rows
from embassay.core.types import Corpus
from embassay.corpora.io.changes import change

SHAPE = "choice"
FIELDS = ("label", "input", "sentences")
ARTICLES = {"a", "an", "the"}
LONGEST = 3
"""The maximum number of words on one side of a pair."""


def recognises(head: str) -> bool:
    """Return whether the first line of a file looks like this format."""
    return len(set(FIELDS) & first_fields(head)) > 1


def load(source: str, name: str, *, licence: str = "", part_of_speech: str = "adjective") -> Corpus[Choice]:
    """Read a file in SemAntoNeg's format.

    Parameters
    ----------
    source
        Path of the JSON lines file.
    licence
        The licence of the file, as the user states it; SemAntoNeg v1.0 is recognised by its content.
    part_of_speech
        The part of speech of the replaced words, for lines without a field of that name.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is not a valid entry.
    """
    path = Path(source)
    samples = [_entry(key, row, part_of_speech) for key, row in named_rows(path, "idx")]
    if not samples:
        raise SourceError("the file has no entries", path)
    corpus = Corpus(name, SHAPE, tuple(samples), licence=licence or "unknown", loader="semantoneg")
    if corpus.fingerprint == SEMANTONEG_V1:
        return _as_released(corpus)
    return corpus


def _as_released(corpus: Corpus[Choice]) -> Corpus[Choice]:
    """Return the corpus with the version, licence and source of the released file."""
    return replace(
        corpus,
        version="1.0",
        licence="CC-BY-4.0",
        source="Opusparcus sentences, antonyms from WordNet, checked by hand (Vahtola et al. 2022)",
        notes=("this is SemAntoNeg v1.0 as released",),
    )


def pair_of(first: str, second: str) -> str:
    """Name the words in which two sentences differ, without articles: ``bad–good``, alphabetically."""
    _, words, other_words = change(first, second)
    return "–".join(sorted((_span_name(words), _span_name(other_words))))


def _span_name(span: list[str]) -> str:
    """Name a span of up to three words; a longer one is not a pair of words, and its text is not repeated here."""
    words = [word for word in span if word not in ARTICLES]
    if len(words) > LONGEST:
        return "(longer)"
    return " ".join(words) or "(nothing)"


def _entry(key: str, row: FileRow, part_of_speech: str) -> Choice:
    """Return the choice of a line."""
    label, sentences = row.value("label"), row.value("sentences")
    if not isinstance(sentences, list) or len(sentences) != 3:
        actual = f"{len(sentences)} of them" if isinstance(sentences, list) else KINDS[type(sentences)]
        raise row.error(f"must be a list of three candidates, is {actual}", "sentences")
    # In Python true and false are numbers, too.
    if isinstance(label, bool) or not isinstance(label, int) or not 0 <= label < 3:
        raise row.error(f"must be 0, 1 or 2, the index of the paraphrase, is {quoted(label)}", "label")
    text = row.text("input")
    candidates = [row.as_text(sentence, "sentences") for sentence in sentences]
    word_class = row.values.get("part_of_speech", part_of_speech)
    if not is_part_of_speech(word_class):
        raise row.error(f"must be a word such as verb, is {quoted(word_class)}", "part_of_speech")
    paraphrase = candidates.pop(label)
    antonym, polarity = candidates
    return Choice(
        id=key,
        input=text,
        antonym=antonym,
        polarity=polarity,
        paraphrase=paraphrase,
        part_of_speech=word_class,
        pair=str(row.values.get("pair") or pair_of(text, antonym)),
        negation=str(row.values.get("negation", "")),
    )
