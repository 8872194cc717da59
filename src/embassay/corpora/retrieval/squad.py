"""SQuAD 1.1 and 2.0, and files in its format (XQuAD, TeleQuAD): find the sentence, or paragraph, that answers.

Rajpurkar et al. (2016, 2018). One JSON object: articles of paragraphs, each a context and its questions with the
answers of one or more annotators. A sentence is right if an answer begins in it. ``is_impossible`` alone decides
what is unanswerable, whatever answers stand beside it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from embassay.core.errors import SourceError, SpecError
from embassay.core.formatting import counted
from embassay.core.randomness import generator
from embassay.core.samples.retrieval import Document, Question
from embassay.core.types import Corpus
from embassay.corpora.io import passages
from embassay.corpora.io.squad import Answer, Paragraph, is_squad
from embassay.corpora.io.squad import paragraphs as read_paragraphs
from embassay.corpora.retrieval.corpus import corpus_of, notes_on, sound

SHAPE = "retrieval"
recognises = is_squad


def load(
    source: str,
    name: str,
    *,
    documents: Literal["sentences", "paragraphs"] = "sentences",
    sentences: Literal["sentencex", "nltk"] = "sentencex",
    paragraphs: int | None = None,
    seed: int = 0,
    language: str = "en",
) -> Corpus[Question]:
    """Read a file in SQuAD's format.

    Parameters
    ----------
    source
        Path of the JSON file.
    documents
        What to search: sentences or paragraphs.
    sentences
        What decides where a sentence ends: sentencex, or nltk's rules for English (Roychowdhury et al. 2024).
    paragraphs
        Read only this many of the paragraphs with questions, chosen at random; all of the file by default. The paper
        has 120 of SQuAD, with 1,009 questions in 651 sentences.
    seed
        Seed for the choice of paragraphs.
    language
        The language whose rules decide where a sentence ends, for sentencex.

    Raises
    ------
    SourceError
        With file and field, for content that is not in this format.
    SpecError
        For more paragraphs than the file has, and for nltk with another language.
    """
    path = Path(source)
    if sentences == "nltk" and language != "en":
        raise SpecError("sentences=nltk has rules for English only; leave out language=, or use sentencex")
    chosen = list(read_paragraphs(path))
    notes = list[str]()
    if paragraphs is not None:
        with_questions = [paragraph for paragraph in chosen if paragraph.questions]
        chosen = _sample(with_questions, paragraphs, seed)
        notes.append(f"{paragraphs:,} of {len(with_questions):,} paragraphs with questions, chosen with seed {seed}")
    cut: Callable[[str], passages.Sentences] = partial(passages.sentences, language=language)
    if sentences == "nltk":
        cut = passages.nltk_sentences
        notes.append("sentences are split by nltk")
    read, questions, notes_on_answers = _read(path, chosen, cut if documents == "sentences" else None)
    articles = {paragraph.article for paragraph in chosen}
    counts = f"{counted(len(articles), 'article')}, {counted(len(chosen), 'paragraph')}"
    notes += [counts, f"documents: {documents}", *notes_on_answers]
    return sound(corpus_of(name, read, questions, notes=notes, noun=documents.removesuffix("s")), path)


def _sample(paragraphs: Sequence[Paragraph], number: int, seed: int) -> list[Paragraph]:
    """Return this many randomly chosen paragraphs, in the order of the file."""
    if not 0 < number <= len(paragraphs):
        raise SpecError(f"paragraphs must be 1 to {len(paragraphs):,} (all that have questions), is {number:,}")
    order = generator(seed, "paragraphs").permutation(len(paragraphs))
    return [paragraphs[place] for place in sorted(order[:number])]


def _read(
    path: Path, paragraphs: Sequence[Paragraph], cut: Callable[[str], passages.Sentences] | None
) -> tuple[list[Document], list[Question], list[str]]:
    """Return the documents, the questions that are unanswerable or have an answer in them, and notes.

    Parameters
    ----------
    cut
        Returns the sentences of a paragraph; None if paragraphs are searched.
    """
    documents, questions = list[Document](), list[Question]()
    counts = Counter[tuple[str, str]]()
    for paragraph in paragraphs:
        pieces, ids = [(0, paragraph.text.strip())], [paragraph.id]
        if cut:
            pieces = cut(paragraph.text)
            ids = [f"{paragraph.id}-{number}" for number in range(len(pieces))]
        documents += [Document(key, (piece,)) for key, (_, piece) in zip(ids, pieces, strict=True)]
        starts = [start for start, _ in pieces]
        for asked in paragraph.questions:
            offsets = []
            for answer in () if asked.is_impossible else asked.answers:
                offset = _offset(answer, paragraph.text)
                if offset is None:
                    counts["answer", "left out: empty, or not exactly once in the context"] += 1
                    continue
                counts["answer", "not at the offset: located by the text, which occurs once"] += (
                    offset != answer.answer_start
                )
                # Its first letter counts.
                offsets.append(offset + len(answer.text) - len(answer.text.lstrip()))
            # In the order of the text. A sentence is right if an answer begins in it.
            right = dict.fromkeys(ids[max(bisect_right(starts, offset) - 1, 0)] for offset in sorted(offsets))
            if right or asked.is_impossible:
                questions.append(Question(asked.id, asked.question, tuple(right), units=(paragraph.article,)))
            else:
                counts["question", "left out: no answer can be located"] += 1
    if not questions:
        raise SourceError("the file has no usable question", path)
    return documents, questions, notes_on(counts)


def _offset(answer: Answer, context: str) -> int | None:
    """Return where an answer is in its context: at its offset, else where its text occurs once; None if nowhere."""
    text, start = answer.text, answer.answer_start
    if not text.strip():
        return None
    # A negative index would count from the end.
    if start >= 0 and context.startswith(text, start):
        return start
    return context.find(text) if context.count(text) == 1 else None
