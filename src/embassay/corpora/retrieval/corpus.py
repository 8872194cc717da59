"""The corpus of a retrieval loader: passages of documents, units of questions, notes on its size."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from embassay.core.errors import SourceError, SpecError
from embassay.core.formatting import counted
from embassay.core.samples.retrieval import Document, Question, StoredDocuments, length
from embassay.core.types import Corpus
from embassay.corpora.io.passages import Cutter, Heading, sections_of

About = Literal["new-documents", "these-documents"]
"""What verdicts are about: other documents like these (``new-documents``), where questions with a common right document
depend on each other; or these documents only, where each question was asked on its own."""


def notes_on(counts: Mapping[tuple[str, str], int]) -> list[str]:
    """Return notes on what was assumed or left out: the number by its noun and what is said of it."""
    return [f"{counted(number, noun)} {what}" for (noun, what), number in counts.items() if number]


def units(right: Iterable[str], about: About) -> tuple[str, ...]:
    """Return the keys of a question's units: its right documents, or none, so that it is its own unit."""
    if about == "these-documents":
        return ()
    return tuple(f"document:{name}" for name in right)


def cut_all(texts: Mapping[str, str], cut: Cutter) -> tuple[Document, ...]:
    """Return the documents, divided into passages."""
    return tuple(_divided(name, text, cut) for name, text in texts.items())


def _divided(name: str, text: str, cut: Cutter) -> Document:
    """Return a document divided into passages, with the headings above each before it where that is asked for."""
    sections = sections_of(text) if cut.context else []
    headings = deque(heading for section in sections for heading in section.headings)
    above: list[Heading] = []
    passages, spans, end = [], [], 0
    for passage, shared in cut(text):
        start = end - shared
        end = start + length(passage)
        while headings and headings[0].place <= start:
            heading = headings.popleft()
            above = [*(other for other in above if other.level < heading.level), heading]
        # A passage may begin with its own heading.
        words = [heading.words for heading in above if heading.place < start]
        before = " > ".join(words[:1] if cut.context == "title" else words)
        passages.append(f"{before}\n{passage}".lstrip("\n"))
        spans.append((start, end))
    # Otherwise each passage begins where the one before it ends.
    return Document(name, tuple(passages), tuple(spans) if cut.size or cut.context else ())


def corpus_of(
    name: str,
    documents: Sequence[Document],
    questions: Sequence[Question],
    *,
    notes: Iterable[str],
    source: str = "",
    noun: str = "document",
) -> Corpus[Question]:
    """Return the corpus, with notes on its size; ``noun`` is what its documents are called."""
    # The texts of stored documents are not read, and each has one passage.
    in_memory = () if isinstance(documents, StoredDocuments) else tuple(documents)
    amounts = counted(len(documents), "document")
    passages = sum(len(document.passages) for document in in_memory)
    if passages > len(documents):
        amounts += f" in {counted(passages, 'passage')}"
    amounts += f", {counted(len(questions), 'question')}"
    unanswered = sum(not question.right for question in questions)
    if unanswered:
        amounts += f", {unanswered:,} of them not answered by any document"
    all_notes = [*notes, amounts]
    equal = len(in_memory) - len({document.passages for document in in_memory})
    if equal:
        all_notes.append(f"{counted(equal, 'document repeats', 'documents repeat')} the text of another")
    repeated = len(questions) - len({question.question for question in questions})
    if repeated:
        all_notes.append(f"{counted(repeated, 'question repeats', 'questions repeat')} another word for word")
    return Corpus(
        name,
        "retrieval",
        tuple(questions),
        source=source,
        notes=tuple(all_notes),
        document_noun=noun,
        documents=in_memory or documents,
    )


def sound(corpus: Corpus[Question], path: Path) -> Corpus[Question]:
    """Return a corpus whose questions and documents were not checked when they were read.

    Parameters
    ----------
    path
        The file that it was read from.

    Raises
    ------
    SourceError
        If one of them is wrong, or if there is no question.
    """
    if not corpus.samples:
        raise SourceError("the file has no usable question", path)
    try:
        corpus.check()
    except SpecError as error:
        raise SourceError(str(error), path) from None
    return corpus
