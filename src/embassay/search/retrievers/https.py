"""A search service of your own: ``https://HOST/PATH,ids=hits.hits.*._id,scores=hits.hits.*._score``.

Each question is sent as JSON, ``{"query": QUESTION}`` or what ``body`` says, or, with ``query=NAME``, as that parameter
of a GET. ``http://`` is for this machine, and for services that need no key.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from embassay.core.errors import EncoderError, SpecError, quoted
from embassay.core.types import Runtime, content_hash
from embassay.models.base import spec_of
from embassay.models.checks import check_amounts, check_whole
from embassay.models.endpoint.access import open_endpoint
from embassay.models.endpoint.client import Endpoint
from embassay.search.retrievers.base import DEPTH, FOR_THIS_RUN, Lists, Questions, Retriever

EXTRA = "api"
REQUIRES = ("httpx2",)
TARGET = "//HOST/PATH"
QUERY, NUMBER = "{query}", "{depth}"
"""What stands in ``body`` and ``parameters`` for the question and for the number of documents."""
LONGEST = 4 << 20
"""Maximum bytes of an answer: some services send the documents with their ids."""
NAMED = 5
"""Fields of an answer that a message names, at most."""
Fill = Mapping[str, object]


def create(
    target: str,
    runtime: Runtime,
    *,
    ids: str = "ids",
    scores: str = "",
    query: str = "",
    body: dict[str, Any] | None = None,
    parameters: dict[str, str] | None = None,
    headers: dict[str, str] | None = None,
    key_env: str = "",
    depth: int = DEPTH,
    concurrency: int = 4,
    timeout: float = 30.0,
    version: str = "",
) -> SearchService:
    """Describe the service; nothing is sent yet.

    Parameters
    ----------
    ids, scores
        Where the ids of the documents, the nearest first, and their scores stand in an answer: names of fields and
        places in lists with dots between them, ``*`` for every entry of a list. Without ``scores`` the order counts.
    query
        The parameter of a GET that has the question. Without it, the question is sent by POST.
    body, parameters, headers
        Tables of the config file: the JSON of a POST, parameters of the address, headers. ``{query}`` and ``{depth}``
        in the first two stand for the question and the number of documents; ``$NAME`` as a value of the last two for
        the environment variable.
    key_env
        The name of the environment variable with a key, which is sent as a bearer token.
    depth
        How many documents are taken of an answer.
    concurrency
        Maximum number of simultaneous requests.
    timeout
        Seconds for one attempt, from connecting to the last byte of the answer.
    version
        Stands for all that the answers depend on. With it, they are used in other runs, too.

    Raises
    ------
    SpecError
        If an option is out of range, a variable is not set, or a key would be sent unencrypted.
    """
    address = target if target.startswith("http") else f"https:{target}"
    place = f"encoder {address.partition('?')[0]!r}"
    check_whole(place, depth=depth, concurrency=concurrency)
    check_amounts(place, timeout=timeout)
    if query and body is not None:
        raise SpecError(f"{place}: query= asks by GET, which has no body; remove one of them")
    secrets: list[str] = []
    sent_parameters = {name: _expanded(value, place, secrets) for name, value in (parameters or {}).items()}
    sent_headers = {name: _expanded(value, place, secrets) for name, value in (headers or {}).items()}
    endpoint = open_endpoint(
        place,
        address,
        key_env,
        headers=sent_headers,
        secrets=secrets,
        address_name="the address",
        timeout=timeout,
        concurrency=concurrency,
        tell=lambda line: runtime.tell(f"{address.partition('?')[0]}: {line}"),
    )
    options = {"ids": "" if ids == "ids" else ids, "scores": scores, "query": query, "version": version}
    options["depth"] = "" if depth == DEPTH else str(depth)
    asked = [ids, scores, query, body, parameters, headers, depth, version]
    return SearchService(
        name=endpoint.address.place,
        spec=spec_of(endpoint.address.shown, options),
        fingerprint=content_hash(["search service", endpoint.address.place, endpoint.address.query, *asked]),
        depth=depth,
        keeps_answers=bool(version),
        warnings=() if version else (f"its answers {FOR_THIS_RUN}",),
        endpoint=endpoint,
        ids=ids,
        scores=scores,
        query=query,
        body={"query": QUERY} if body is None else body,
        parameters=sent_parameters,
    )


@dataclass(frozen=True, kw_only=True)
class SearchService(Retriever):
    """Asks a service, several questions at a time.

    Attributes
    ----------
    ids, scores, query, body, parameters
        See :func:`create`.
    """

    endpoint: Endpoint = field(repr=False)
    ids: str
    scores: str
    query: str
    body: Mapping[str, Any]
    parameters: Mapping[str, str] = field(repr=False)

    def retrieve(self, questions: Questions) -> Iterator[Lists]:
        """Yield the list of each question as its answer comes, with the seconds that it took.

        Raises
        ------
        EncoderError
            If the service fails, or an answer has no ids where they should stand.
        """
        try:
            for row, (ids, scores, seconds) in self.endpoint.each(self._ask, questions.texts):
                yield questions.listed(row, ids, scores, seconds)
        finally:
            self.endpoint.close()

    def _ask(self, question: str) -> tuple[list[str], list[float] | None, float]:
        """Return the ids and scores of the documents, and the seconds until they came, further attempts included."""
        fill = {QUERY: question, NUMBER: self.depth}
        parameters = {name: str(_filled(value, fill)) for name, value in self.parameters.items()}
        began = time.perf_counter()
        if self.query:
            answer = self.endpoint.get({**parameters, self.query: question}, LONGEST)
        else:
            answer = self.endpoint.post("", _filled(self.body, fill), parameters=parameters, longest=LONGEST)
        seconds = time.perf_counter() - began
        # Read here, where a failure lets the other requests end, which are perhaps still connecting.
        try:
            ids = [str(found) for found in values_at(answer, self.ids, "ids", (str, int))[: self.depth]]
            scores = values_at(answer, self.scores, "scores", (int, float))[: self.depth] if self.scores else None
        except EncoderError as error:
            raise EncoderError(f"{error}; the question is {quoted(question)}") from None
        return ids, scores, seconds


def values_at(answer: object, path: str, option: str, kinds: tuple[type, ...]) -> list[Any]:
    """Return the values at a dotted path of an answer; a path that ends at a list means its entries.

    Parameters
    ----------
    option
        The option that has the path, for messages.
    kinds
        What the values may be.

    Raises
    ------
    EncoderError
        If the answer has nothing there, or something else.
    """
    found = [answer]
    so_far = "the answer"
    for part in path.split("."):
        found = [below for value in found for below in _below(value, part, f"{option}={path}", so_far)]
        so_far = quoted(part) if part != "*" else f"each entry of {so_far}"
    if "*" not in path.split(".") and len(found) == 1 and isinstance(found[0], list):
        found = found[0]
    for place, value in enumerate(found):
        if float in kinds and isinstance(value, str):
            # Some services write a number as a text.
            with suppress(ValueError):
                found[place] = value = float(value)
        if not isinstance(value, kinds) or isinstance(value, bool):
            expected = "a number; without scores= the order counts" if float in kinds else "an id"
            raise EncoderError(f"{option}={path}: {quoted(str(value))} in the answer is not {expected}")
    return found


def _below(value: object, part: str, option: str, place: str) -> list[object]:
    """Return what one part of a path leads to from a value."""
    if part == "*" and isinstance(value, list):
        return value
    if isinstance(value, dict) and part in value:
        return [value[part]]
    if isinstance(value, list) and part.isdecimal() and int(part) < len(value):
        return [value[int(part)]]
    problem = "is no list" if part == "*" else f"has no {quoted(part)}"
    if isinstance(value, list) and not part.isdecimal():
        problem = f"is a list; write *.{part} for each of its entries"
    if isinstance(value, dict) and value:
        problem += f"; it has {', '.join(map(quoted, list(value)[:NAMED]))}"
    raise EncoderError(f"{option}: {place} {problem}")


def _filled(value: Any, fill: Fill) -> Any:
    """Return a value of the config file with the question and the number of documents in it."""
    if isinstance(value, Mapping):
        return {name: _filled(inner, fill) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, fill) for inner in value]
    if value == NUMBER:
        # A number stays one.
        return fill[NUMBER]
    if isinstance(value, str):
        # Both at once: a question may have such a placeholder itself.
        return re.sub(r"\{query\}|\{depth\}", lambda match: str(fill[match[0]]), value)
    return value


def _expanded(value: str, place: str, secrets: list[str]) -> str:
    """Return a value, of ``$NAME`` that of the environment variable, which is added to the secrets."""
    if not value.startswith("$"):
        return value
    secret = os.environ.get(value[1:], "").strip()
    if not secret:
        raise SpecError(f"{place}: the environment variable {quoted(value[1:])} is not set")
    secrets.append(secret)
    return secret
