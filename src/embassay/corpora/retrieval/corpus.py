"""The corpus of a retrieval loader: passages of documents, units of questions, unknown ids, notes on its size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal

from embassay.core.errors import SourceError, listed, nearest, quoted
from embassay.core.formatting import counted
from embassay.core.samples.retrieval import Document, Question, StoredDocuments
from embassay.core.types import Corpus
from embassay.corpora.io.passages import Cutter

About = Literal["new-documents", "these-documents"]
"""What verdicts are about: other documents like these (``new-documents``), where questions with a common right document
depend on each other; or these documents only, where each question was asked on its own."""
GUESSED = 50_000
"""The maximum number of ids that a wrong id is compared with, for "did you mean"."""
MAX_SHOWN = 10
"""The maximum number of wrong ids that a message lists."""
NULLS = frozenset({"nan", "none", "null", "n/a"})


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
    path: Path, field: str, unknown: Sequence[tuple[int | None, str]], ids: Iterable[str]
) -> SourceError:
    """Return the error of ids that no document has.

    Parameters
    ----------
    unknown
        The line of each such id, and the id.
    ids
        Those of the documents; the nearest one is suggested.
    """
    candidates = list(islice(ids, GUESSED))
    shown = [f"{quoted(name)} on line {line}{_guess(name, candidates)}" for line, name in unknown[:MAX_SHOWN]]
    more = f" and {len(unknown) - MAX_SHOWN:,} more" if len(unknown) > MAX_SHOWN else ""
    return SourceError(f"no document has the id {', '.join(shown)}{more}", path, unknown[0][0], field)


def _guess(name: str, ids: Sequence[str]) -> str:
    """Return the nearest id, if any is near, in brackets."""
    if name.casefold() in NULLS:
        return " (leave the cell empty for no document)"
    # The most common mistake is a file name without its folder.
    without_suffix = name.rpartition(".")[0] or name
    same_name = [key for key in ids if f"/{key}".endswith(f"/{without_suffix}")]
    near = same_name[0] if len(same_name) == 1 else nearest(name, ids)
    return f" (did you mean {quoted(near)}?)" if near else ""


def corpus_of(
    name: str,
    documents: Sequence[Document],
    questions: Sequence[Question],
    *,
    notes: Iterable[str],
) -> Corpus[Question]:
    """Return the corpus, with notes on its size."""
    return Corpus(
        name,
        "retrieval",
        tuple(questions),
        notes=(*notes, *_amounts(documents, questions)),
        documents=documents if isinstance(documents, StoredDocuments) else tuple(documents),
    )


def _amounts(documents: Sequence[Document], questions: Sequence[Question]) -> Iterator[str]:
    """Yield the numbers of documents and questions, and of repeated ones."""
    in_memory = () if isinstance(documents, StoredDocuments) else documents
    amounts = counted(len(documents), "document")
    passages = sum(len(document.passages) for document in in_memory)
    if passages > len(documents):
        amounts += f" in {counted(passages, 'passage')}"
    amounts += f", {counted(len(questions), 'question')}"
    numbers = sorted(len(question.right) for question in questions)
    if numbers[:1] == [0]:
        amounts += f", {numbers.count(0):,} of them not answered by any document"
    yield amounts
    some = [number for number in numbers if number] or [0]
    if some[0] == some[-1] > 1:
        yield f"{some[0]:,} right documents for each question"
    elif some[-1] > 1:
        yield f"{some[0]:,} to {some[-1]:,} right documents for a question"
    first_with: dict[tuple[str, ...], str] = {}
    equal = [
        f"{document.id} (as {first})"
        for document in in_memory
        if (first := first_with.setdefault(document.passages, document.id)) != document.id
    ]
    if equal:
        yield f"{counted(len(equal), 'document has', 'documents have')} the same text as another: {listed(equal)}"
    repeated = len(questions) - len({question.question for question in questions})
    if repeated:
        yield f"{counted(repeated, 'question repeats', 'questions repeat')} another word for word"
