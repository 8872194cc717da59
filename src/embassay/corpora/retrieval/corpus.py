"""The corpus of a retrieval loader: passages of documents, units of questions, unknown ids, notes on its size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from embassay.core.errors import SourceError, nearest, quoted
from embassay.core.formatting import counted
from embassay.core.samples.retrieval import Document, Question, StoredDocuments
from embassay.core.tables.jsonl import listed
from embassay.core.types import Corpus
from embassay.corpora.io.passages import Cutter

SHAPE = "retrieval"
About = Literal["new-documents", "these-documents"]
"""What verdicts are about: other documents like these (``new-documents``), where questions with a common right document
depend on each other; or these documents only, where each question was asked on its own."""
GUESSED = 50_000
"""The maximum number of ids that a wrong id is compared with, for "did you mean"."""
MAX_SHOWN = 10
"""The maximum number of wrong ids that a message lists."""


def left_out(places: Sequence[str], one: str, many: str) -> list[str]:
    """Return a note on what was left out, in the singular or plural, with the first place; nothing if nothing was."""
    if not places:
        return []
    return [f"{counted(len(places), one, many)} (the first: {places[0]})"]


def units(right: Iterable[str], about: About) -> tuple[str, ...]:
    """Return the keys of a question's units: its right documents, or none, so that it is its own unit."""
    if about == "these-documents":
        return ()
    return tuple(f"document:{name}" for name in right)


def cut_all(texts: Mapping[str, str], cut: Cutter) -> tuple[Document, ...]:
    """Return the documents, divided into passages."""
    return tuple(Document(name, cut(text), cut.overlap) for name, text in texts.items())


def unknown_documents(
    path: Path,
    field: str,
    unknown: Sequence[tuple[int | None, str]],
    ids: Iterable[str],
    unread: Mapping[str, str] = MappingProxyType({}),
) -> SourceError:
    """Return the error of ids that no document has.

    Parameters
    ----------
    unknown
        The line of each such id, and the id.
    ids
        Those of the documents; the nearest one is suggested.
    unread
        Why other files of the folder are no documents, by what their ids would be.
    """
    if len(unknown) == 1:
        line, name = unknown[0]
        guess = _guess(name, ids, "; {}", unread)
        return SourceError(f"no document has the id {quoted(name)}{guess}", path, line, field)
    shown = [f"{quoted(name)} on line {line}{_guess(name, ids, ' ({})', unread)}" for line, name in unknown[:MAX_SHOWN]]
    problem = f"{counted(len(unknown), 'id')} name no document: {', '.join(shown)}"
    if len(unknown) > MAX_SHOWN:
        problem += f" and {len(unknown) - MAX_SHOWN:,} more"
    return SourceError(problem, path, None, field)


def _guess(name: str, ids: Iterable[str], form: str, unread: Mapping[str, str]) -> str:
    """Return the part of a message that says why a file is no document, or suggests the nearest id, if any is near."""
    candidates = list(islice(ids, GUESSED))
    # The most common mistake is a file name without its folder.
    without_suffix = name.rpartition(".")[0] or name
    if reason := unread.get(name) or unread.get(without_suffix):
        return form.format(reason)
    same_name = list[str]()
    for candidate in candidates:
        if candidate == without_suffix or candidate.endswith(f"/{without_suffix}"):
            same_name.append(candidate)
    near = same_name[0] if len(same_name) == 1 else nearest(name, candidates)
    return form.format(f"did you mean {quoted(near)}?") if near else ""


def corpus_of(
    name: str,
    loader: str,
    documents: Sequence[Document],
    questions: Sequence[Question],
    *,
    licence: str,
    notes: Iterable[str],
) -> Corpus[Question]:
    """Return the corpus, with notes on its size."""
    return Corpus(
        name,
        SHAPE,
        tuple(questions),
        licence=licence or "unknown",
        loader=loader,
        notes=(*notes, *_amounts(documents, questions)),
        documents=documents if isinstance(documents, StoredDocuments) else tuple(documents),
    )


def _amounts(documents: Sequence[Document], questions: Sequence[Question]) -> Iterator[str]:
    """Yield the numbers of documents and questions, and of repeated ones."""
    amounts = counted(len(documents), "document")
    is_stored = isinstance(documents, StoredDocuments)
    passages = len(documents) if is_stored else sum(len(document.passages) for document in documents)
    if passages != len(documents):
        amounts += f" in {counted(passages, 'passage')}"
    amounts += f", {counted(len(questions), 'question')}"
    right_documents = [len(question.right) for question in questions if question.right]
    unanswerable = len(questions) - len(right_documents)
    if unanswerable:
        amounts += f", {unanswerable:,} of them not answered by any document"
    yield amounts
    fewest, most = min(right_documents, default=0), max(right_documents, default=0)
    if fewest == most > 1:
        yield f"{most:,} right documents for each question"
    elif most > 1:
        yield f"{fewest:,} to {most:,} right documents for a question"
    first_with = dict[tuple[str, ...], str]()
    equal = list[str]()
    for document in () if is_stored else documents:
        first = first_with.setdefault(document.passages, document.id)
        if first != document.id:
            equal.append(f"{document.id} (as {first})")
    if equal:
        yield f"{counted(len(equal), 'document has', 'documents have')} the same text as another: {listed(equal)}"
    repeated = len(questions) - len({question.question for question in questions})
    if repeated:
        yield f"{counted(repeated, 'question repeats', 'questions repeat')} another word for word"
