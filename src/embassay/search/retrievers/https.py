"""A search service of your own: ``https://HOST/PATH,ids=hits.hits.*._id,scores=hits.hits.*._score``.

Each question is sent as JSON, ``{"query": QUESTION}`` or what ``body`` says, or, with ``query=NAME``, as that parameter
of a GET. ``http://`` is for this machine, and for services that need no key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from embassay.core.errors import SpecError, quoted
from embassay.core.types import Runtime, content_hash
from embassay.models.base import changed_options, spec_of
from embassay.models.limits import Amount, Count
from embassay.models.services.service import Service
from embassay.search.retrievers.base import DEPTH, Lists, Questions, Retriever

EXTRA = "api"
REQUIRES = ("httpx2",)
TARGET = "//HOST/PATH"
EXACT = 2.0**53
"""Floats do not hold all larger integers: different scores would become equal."""


def create(
    target: str,
    runtime: Runtime,
    *,
    ids: str = "ids",
    scores: str = "",
    query: str = "",
    body: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
    key_env: str = "",
    depth: Count = DEPTH,
    concurrency: Count = 4,
    timeout: Amount = 30.0,
    version: str = "",
) -> SearchService:
    """Describe the service; nothing is sent yet.

    Parameters
    ----------
    ids, scores
        Where an answer has the ids of the documents, the nearest first, and their scores: names of fields and indices
        of lists, separated by dots; ``*`` for every entry of a list. Without ``scores``, and where scores are above
        2^53, such as those of Typesense, the order counts. A document that is listed several times, by its chunks,
        counts at its first place.
    query
        The name of the parameter with the question, which is then sent by GET; by default it is sent by POST.
    body, headers
        Tables of the config file: the JSON of a POST, in which ``{query}`` and ``{depth}`` stand for the question and
        the number of documents, and headers, in which ``$NAME`` as a value stands for the environment variable.
    key_env
        The name of the environment variable with a key, which is sent as a bearer token.
    depth
        Maximum number of documents of an answer that count.
    concurrency, timeout
        See :class:`~embassay.models.services.service.Service`.
    version
        Identifies everything that the answers depend on: it must change whenever they change.

    Raises
    ------
    SpecError
        If options exclude each other, a variable is not set, or a key would be sent unencrypted.
    """
    address = target if target.startswith("http") else f"https:{target}"
    place = f"encoder {address.partition('?')[0]!r}"
    if query and body:
        raise SpecError(f"{place}: query= asks by GET, which has no body; remove one of them")
    service = Service(
        place,
        address,
        key_env,
        timeout=timeout,
        concurrency=concurrency,
        headers=headers,
        tell=runtime.tell,
    )
    options = changed_options(create, ids=ids, scores=scores, query=query, version=version, depth=depth)
    return SearchService(
        name=service.place,
        spec=spec_of(service.url, options),
        fingerprint=content_hash(
            ["search service", service.place, service.query, ids, scores, query, body, headers, depth, version]
        ),
        depth=depth,
        service=service,
        ids=ids,
        scores=scores,
        query=query,
        body=body or {"query": "{query}"},
    )


@dataclass(frozen=True, kw_only=True)
class SearchService(Retriever):
    """Asks a service, several questions at a time.

    Attributes
    ----------
    ids, scores, query, body
        See :func:`create`.
    """

    service: Service = field(repr=False)
    ids: str
    scores: str
    query: str
    body: Mapping[str, Any]

    def retrieve(self, questions: Questions) -> Iterator[Lists]:
        """Yield the list of each question as its answer comes, with the seconds that it took.

        Raises
        ------
        EncoderError
            If the service fails, or an answer has no ids where they should stand.
        """
        for row, score_of, seconds in self.service.each(self._ask, questions.texts):
            scores = list(score_of.values())
            has_scores = self.scores and all(abs(score) <= EXACT for score in scores)
            yield questions.listed(row, list(score_of), scores if has_scores else None, seconds)

    async def _ask(self, question: str) -> dict[str, float]:
        """Return the scores of the documents by id."""
        payload = None if self.query else filled(self.body, question, self.depth)
        query = urlencode({self.query: question} if self.query else {})
        return await self.service.ask("", payload, lambda answer: self._read(answer, question), query=query)

    def _read(self, answer: object, question: str) -> dict[str, float]:
        """Return the scores of the first documents by id; a document with several chunks has that of the nearest."""
        score_of: dict[str, float] = {}
        try:
            ids = values_at(answer, self.ids)
            scores = values_at(answer, self.scores) if self.scores else [0] * len(ids)
            for name, score in zip(ids, scores, strict=True):
                if not isinstance(name, str | int):
                    raise ValueError(f"ids are texts or numbers, not {quoted(name)}")
                if score is None:
                    raise ValueError(f"{quoted(name)} has no score")
                score_of.setdefault(str(name), float(score))
                if len(score_of) == self.depth:
                    break
        except (TypeError, ValueError, OverflowError) as error:
            raise ValueError(
                f"cannot read ids={self.ids}, scores={self.scores} (a number for each id; without scores= the order "
                f"counts): {error}; the question is {quoted(question)}"
            ) from None
        return score_of


def values_at(answer: Any, path: str) -> list[Any]:
    """Return the values at a dotted path of an answer; a path that ends at a list means its entries.

    Raises
    ------
    ValueError
        If the answer has nothing there.
    """
    values = [answer]
    for part in path.split("."):
        below: list[Any] = []
        for value in values:
            try:
                if not isinstance(value, list):
                    below.append(value[part])
                elif part == "*":
                    below += value
                else:
                    below.append(value[int(part)])
            except (LookupError, TypeError, ValueError):
                raise ValueError(f"there is no {part!r} in {quoted(value)}") from None
        values = below
    return values[0] if len(values) == 1 and isinstance(values[0], list) else values


def filled(template: Any, question: str, depth: int) -> Any:
    """Return a table of the config file with the question and the number of documents in it; a number stays one."""
    text = json.dumps(template).replace('"{depth}"', str(depth)).replace("{depth}", str(depth))
    # Last, because a question may have such a placeholder itself.
    return json.loads(text.replace("{query}", json.dumps(question)[1:-1]))
