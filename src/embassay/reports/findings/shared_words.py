"""Whether the questions of a corpus have words of its documents, without which nothing matches words."""

from __future__ import annotations

from collections.abc import Sequence

from embassay.core.types import AnyCorpus
from embassay.stats.lexical.language import language_of, script_of, scripts_of
from embassay.stats.lexical.words import words

FEW = 0.2
"""Of the distinct words of XQuAD's questions, 62 to 87 % occur in its paragraphs in the same language, 2 to 27 % in
those in another one (English, German and Chinese)."""
FEW_OF_ANOTHER_LANGUAGE = 0.5
"""Where more occur, some documents are in the language of the questions."""
FEW_LETTERS = 0.05
"""Documents in other letters than the questions have fewer of theirs; code and names may be most of a text."""
SAMPLE, LONGEST = 100, 1000
"""How many texts decide about script and language, and how many characters of each."""


def mismatch(corpus: AnyCorpus) -> str:
    """Return how questions and documents differ in script, language or words, with counts; empty if they do not."""
    if not corpus.documents or corpus.stored_documents:
        return ""
    questions = [text for sample in corpus.samples for role, text in sample.texts() if role == "query"]
    passages = [passage for document in corpus.documents for passage in document.passages]
    difference, few = _difference(questions, passages)
    question_words = {word for question in questions for word in words(question.lower())}
    missing = set(question_words)
    for passage in passages:
        missing.difference_update(words(passage.lower()))
        # Where they belong together, the first documents show it.
        if len(missing) <= (1 - few) * len(question_words):
            return ""
    shared = len(question_words) - len(missing)
    share = shared / len(question_words)
    counts = f"{shared:,} of {len(question_words):,} distinct words of the questions ({share:.0%})"
    return f"{difference}{counts} occur in a document"


def _difference(questions: Sequence[str], passages: Sequence[str]) -> tuple[str, float]:
    """Return how the two differ in script or language, and from which share of words on nothing is said of it."""
    question, passage = _sample(questions), _sample(passages)
    script, scripts = script_of(question), scripts_of(passage)
    if script and scripts[script] < FEW_LETTERS * scripts.total():
        return f"The questions are in {script} letters, the documents in {script_of(passage)} ones; ", 1.0
    languages = language_of(question), language_of(passage)
    if languages[0] != languages[1] and not {"", "another"}.intersection(languages):
        return f"The questions look {languages[0]}, the documents {languages[1]}; ", FEW_OF_ANOTHER_LANGUAGE
    return "", FEW


def _sample(texts: Sequence[str]) -> str:
    """Return the beginnings of evenly spaced texts."""
    step = max(1, len(texts) // SAMPLE)
    return "\n".join(text[:LONGEST] for text in texts[::step])
