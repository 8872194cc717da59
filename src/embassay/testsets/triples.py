"""Three consecutive sentences of a document, drawn by the seed among those that are whole ones.

Bansal et al. (2025), section 5, take three consecutive sentences, so that neighbours have something to do with each
other. What "whole" means is ours: no headings, items of lists, markup or halves of sentences.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from embassay.corpora.io.documents import SourceDocument
from embassay.corpora.io.passages import cutter, sentences
from embassay.errors import SpecError
from embassay.randomness import generator
from embassay.samples.composed import degenerate
from embassay.testsets.english.language import language_of

SHORTEST, LONGEST = 5, 40
"""Words of a sentence."""
ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st jr sr no vs cf ca fig inc ltd co corp e.g i.e etc approx vol ed".split()
)
"""Words that keep their full stop; a text may have been cut after one."""
SENTENCES = 3
TOO_SHORT = "document of fewer than three sentences"
NONE_WHOLE = "document without three different whole sentences in a row"
_MARKUP = re.compile(r"[\[\]{}<>|\\^~*#_=@•·→∈⊆≤≥`]|https?:|www\.|&\w+;|\s[.,;:!?](?:\s|$)|\.\.|…")
_ITEM = re.compile(r"(?:\d+|\w|[ivx]+)[.)]\s")
_PAIRS = (("(", ")"), ("“", "”"), ("«", "»"))


@dataclass(frozen=True)
class Triple:
    """Three consecutive sentences.

    Attributes
    ----------
    key
        The document's id and the number of the first of them in it, from 1.
    unit
        The document's unit, or its id.
    """

    key: str
    sentences: tuple[str, str, str]
    unit: str


def triples(
    sources: Sequence[SourceDocument], *, seed: int, count: int | None, per_document: int
) -> tuple[tuple[Triple, ...], Counter[str]]:
    """Return the triples of documents, in their order, and how many documents or triples were left out, by reason.

    What is drawn of a document depends on the seed, its id and its text only.

    Parameters
    ----------
    count
        Documents that triples are taken of, drawn by the seed; all by default.
    per_document
        Triples of a document at most; they share no sentence.

    Raises
    ------
    SpecError
        If ``per_document`` is below 1.
    """
    if per_document < 1:
        raise SpecError(f"per-document must be 1 or more, is {per_document}")
    rejected, found, seen = Counter[str](), list[list[Triple]](), set[tuple[str, ...]]()
    for document in sources:
        parts = _sentences(document.text)
        own = _drawn(document, parts, seed, per_document)
        if not own:
            rejected[TOO_SHORT if len(parts) < SENTENCES else NONE_WHOLE] += 1
        new = [triple for triple in own if triple.sentences not in seen]
        seen.update(triple.sentences for triple in new)
        if again := len(own) - len(new):
            rejected["three sentences that stood before"] += again
        if new:
            found.append(new)
    if count is not None and count < len(found):
        rejected["document that was not drawn (--count)"] += len(found) - count
        places = generator(seed, "builders", "composition", "count").permutation(len(found))[:count]
        found = [found[place] for place in sorted(places.tolist())]
    return tuple(triple for own in found for triple in own), rejected


def is_whole(sentence: str) -> bool:
    """Say whether a text is a whole sentence of running text: its length, its beginning and end, no markup."""
    words = sentence.split()
    if not SHORTEST <= len(words) <= LONGEST or _MARKUP.search(sentence) or _ITEM.match(sentence):
        return False
    if not (sentence[0].isupper() or sentence[0].isdigit()) or sentence[-1] not in ".!?":
        return False
    if sentence.count('"') % 2 or any(sentence.count(a) != sentence.count(b) for a, b in _PAIRS):
        return False
    return words[-1].lower().rstrip(".") not in ABBREVIATIONS


def _sentences(text: str) -> list[str]:
    """Return the sentences of a document; none goes over the end of a paragraph."""
    return [sentence for part in cutter("paragraph")(text) for _, sentence in sentences(part)]


def _drawn(document: SourceDocument, parts: Sequence[str], seed: int, most: int) -> list[Triple]:
    """Return some of the usable triples of a document, none of which shares a sentence with another."""
    english = language_of(document.text) == "English"
    whole = [is_whole(part) and not (english and language_of(part) not in {"English", ""}) for part in parts]
    usable = [place for place in range(len(parts) - SENTENCES + 1) if all(whole[place : place + SENTENCES])]
    usable = [p for p in usable if not degenerate(dict(zip(("S1", "S2", "S3"), parts[p : p + SENTENCES], strict=True)))]
    if not usable:
        return []
    order = generator(seed, "builders", "composition", document.id).permutation(len(usable))
    taken = list[int]()
    for place in (usable[number] for number in order.tolist()):
        if len(taken) < most and all(abs(place - other) >= SENTENCES for other in taken):
            taken.append(place)
    unit = document.unit or document.id
    return [Triple(f"{document.id}.{p + 1}", (parts[p], parts[p + 1], parts[p + 2]), unit) for p in sorted(taken)]
