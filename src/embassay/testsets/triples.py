"""Random triples of consecutive whole sentences of a document.

Bansal et al. (2025), section 5, take three consecutive sentences, so that neighbours are related. "Whole" is our
definition: no headings, items of lists, markup or halves of sentences.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from embassay.core.randomness import generator
from embassay.core.samples.composed import degenerate
from embassay.corpora.io.documents import SourceDocument
from embassay.corpora.io.passages import collapsed, paragraphs, sentences
from embassay.testsets.base import Reasons
from embassay.testsets.english import ABBREVIATIONS

SHORTEST, LONGEST = 5, 40
"""The minimum and the maximum number of words of a sentence."""
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
        The document's id and the number of the first sentence in it, from 1.
    unit
        The document's unit, or its id.
    """

    key: str
    sentences: tuple[str, str, str]
    unit: str


def triples(
    sources: Sequence[SourceDocument],
    *,
    seed: int,
    count: int | None,
) -> tuple[tuple[Triple, ...], Reasons]:
    """Return a triple of each document, in order, and the number of documents left out by reason.

    The triple drawn from a document depends only on the seed, its id and its text.

    Parameters
    ----------
    count
        Use at most N randomly chosen documents; all by default.
    """
    rejected, drawn = Reasons(), dict[tuple[str, ...], Triple]()
    for document in sources:
        candidates = _candidates(document)
        if not candidates:
            rejected[NONE_WHOLE] += 1
            continue
        order = generator(seed, "builders", "composition", document.id).permutation(len(candidates)).tolist()
        triple = candidates[order[0]]
        rejected["repeated triple of sentences"] += triple.sentences in drawn
        drawn.setdefault(triple.sentences, triple)
    chosen = list(drawn.values())
    if count is not None and count < len(chosen):
        rejected["document that was not drawn (--count)"] += len(chosen) - count
        order = generator(seed, "builders", "composition", "count").permutation(len(chosen)).tolist()
        chosen = [chosen[place] for place in sorted(order[:count])]
    return tuple(chosen), rejected


def is_whole(sentence: str) -> bool:
    """Return whether a text is a whole sentence of running text: its length, its beginning and end, no markup."""
    words = sentence.split()
    if not SHORTEST <= len(words) <= LONGEST:
        return False
    if _MARKUP.search(sentence) or _ITEM.match(sentence):
        return False
    begins_well = sentence[0].isupper() or sentence[0].isdigit()
    ends_well = sentence[-1] in ".!?" and words[-1].lower().rstrip(".") not in ABBREVIATIONS
    if not begins_well or not ends_well:
        return False
    # An open quotation or bracket: the sentence was split inside it.
    pairs_are_closed = all(sentence.count(opening) == sentence.count(closing) for opening, closing in _PAIRS)
    return pairs_are_closed and sentence.count('"') % 2 == 0


def _candidates(document: SourceDocument) -> list[Triple]:
    """Return all triples of different whole sentences."""
    parts = list[str]()
    # No sentence crosses the end of a paragraph.
    for paragraph in paragraphs(document.text):
        parts += [sentence for _, sentence in sentences(collapsed(paragraph))]
    candidates = list[Triple]()
    for number, three in enumerate(zip(parts, parts[1:], parts[2:], strict=False), 1):
        if all(map(is_whole, three)) and not degenerate(dict(zip(("S1", "S2", "S3"), three, strict=True))):
            candidates.append(Triple(f"{document.id}.{number}", three, document.id))
    return candidates
