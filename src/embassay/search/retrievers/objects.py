"""Objects and functions of others as retrievers: recognised by their methods; their libraries are never imported.

An object answers one question by ``invoke`` (LangChain) or ``retrieve`` (LlamaIndex), a function by being called with
it. The answer is a list, the nearest first, of ids, of (id, score), or of what these libraries return.

A document of a library is that of the corpus whose id is its own id, that of the document it was cut from, or a value
of its metadata; else the one that has its text as a passage. Several passages of a document count once, by the nearest.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from embassay.core.errors import EncoderError, quoted
from embassay.core.samples.retrieval import Question
from embassay.core.types import Corpus, content_hash
from embassay.models.base import spec_of
from embassay.search.retrievers.base import Lists, Questions, Retriever

METHODS = ("retrieve", "invoke")
"""The methods that answer a question: LlamaIndex's and LangChain's."""
IDS = ("id", "id_", "node_id", "ref_doc_id")
"""Attributes that may hold the id of a document."""


def is_retriever(thing: object) -> bool:
    """Return whether an object answers questions in a way that is known."""
    return not isinstance(thing, type) and any(callable(getattr(thing, method, None)) for method in METHODS)


def from_object(thing: Any, name: str = "", version: str = "") -> ObjectRetriever:
    """Return a retriever for an object of another library.

    Parameters
    ----------
    name
        The name of the retriever; by default that of its class.
    version
        It must change whenever the answers change; without it, no run uses the answers of another one.
    """
    kind = type(thing)
    spec = spec_of(f"object:{kind.__module__}.{kind.__qualname__}", {"version": version})
    return retriever_of(thing, name or kind.__name__, spec, version or secrets.token_hex(16))


def retriever_of(thing: Any, name: str, spec: str, content: str) -> ObjectRetriever:
    """Return a retriever that asks an object or a function.

    Parameters
    ----------
    content
        What identifies the answers, besides the spec.
    """
    methods = [getattr(thing, method) for method in METHODS if callable(getattr(thing, method, None))]
    ask = methods[0] if methods else thing
    fingerprint = content_hash(["object", name, spec, content])
    return ObjectRetriever(name=name, spec=spec, fingerprint=fingerprint, ask=ask)


@dataclass(frozen=True, kw_only=True)
class ObjectRetriever(Retriever):
    """A retriever that asks one question after the other.

    Attributes
    ----------
    ask
        Takes the text of a question.
    """

    ask: Callable[[str], Any] = field(repr=False)

    def retrieve(self, questions: Questions) -> Iterator[Lists]:
        """Yield the list of each question."""
        id_of_text = ids_of_texts(questions.corpus)
        for row, text in enumerate(questions.texts):
            started = time.perf_counter()
            answer = self.ask(text)
            seconds = time.perf_counter() - started
            if not isinstance(answer, (list, tuple)):
                raise EncoderError(f"it answered with {type(answer).__name__}, not with a list of documents")
            score_of: dict[str, float | None] = {}
            for hit in answer:
                name, score = identified(hit, questions.place_of, id_of_text)
                # The nearest passage of a document counts.
                score_of.setdefault(name, score)
            scores = [score for score in score_of.values() if score is not None]
            yield questions.listed(row, list(score_of), scores if len(scores) == len(score_of) else None, seconds)


def ids_of_texts(corpus: Corpus[Question]) -> dict[str, str]:
    """Return the id of the first document that has a text, as a whole or as a passage."""
    id_of: dict[str, str] = {}
    for document in corpus.documents:
        for text in (document.whole, *document.passages):
            id_of.setdefault(text.strip(), document.id)
    return id_of


def identified(hit: Any, known: Collection[str], id_of_text: Mapping[str, str]) -> tuple[str, float | None]:
    """Return the id of what an answer names, and its score, if there is one.

    Raises
    ------
    EncoderError
        If it is neither an id nor something with an id or a text.
    """
    if isinstance(hit, str):
        return hit, None
    if isinstance(hit, tuple) and len(hit) == 2:
        return str(hit[0]), float(hit[1])
    # LlamaIndex wraps a node with its score.
    document = getattr(hit, "node", hit)
    metadata = getattr(document, "metadata", None)
    values = [getattr(document, name, None) for name in IDS]
    values += metadata.values() if isinstance(metadata, Mapping) else []
    ids = [value for value in values if isinstance(value, str) and value]
    text = getattr(document, "page_content", None) or getattr(document, "text", None)
    if isinstance(text, str):
        ids.append(id_of_text.get(text.strip(), ""))
    if not ids:
        raise EncoderError(f"a document of its answer has neither an id nor a text: {quoted(repr(hit))}")
    score = getattr(hit, "score", None)
    name = next((name for name in ids if name in known), ids[0])
    return name, None if score is None else float(score)
