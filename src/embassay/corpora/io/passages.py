"""Cutting a document into passages: whole, by paragraph, by sentence, or by N words with a tenth overlapping."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from embassay.errors import SpecError, quoted

Cut = Callable[[str], tuple[str, ...]]
WINDOW = 10_000
"""Characters of a paragraph that are divided into sentences at once, at most."""
OVERLAP = 2_000
"""Characters at the end of a window in which no sentence is taken to be whole."""
_EMPTY_LINES = re.compile(r"\n{2,}")
_BLANK = re.compile(r"\n(?:[^\S\n]*\n)+")
_SPACE = re.compile(r"[^\S\t\n\r ]")


def cutter(passages: str, language: str = "en") -> Cut:
    """Return the function that cuts a text that is not blank into its passages, one at least.

    Parameters
    ----------
    passages
        ``document``: the text without the space around it. ``paragraph``: what stands between blank lines.
        ``sentence``. A number N: windows of N words, of which neighbours share a tenth, one word at least.
        White space inside a passage becomes single spaces, but for whole documents.
    language
        Whose rules tell where a sentence ends; those that sentencex does not know go by general rules.

    Raises
    ------
    SpecError
        For anything else, and for no words.
    """
    known: dict[str, Cut] = {
        "document": lambda text: (text.strip(),),
        "paragraph": _paragraphs,
        "sentence": lambda text: tuple(sentence for _, sentence in sentences(text, language)),
    }
    wanted = passages.strip()
    if wanted in known:
        return known[wanted]
    if not re.fullmatch(r"[1-9][0-9]{0,8}", wanted):
        ways = f"{', '.join(known)} or a number of words, 1 or more"
        raise SpecError(f"passages must be {ways}; it is {quoted(passages)}")
    return partial(_windows, size=int(wanted))


def sentences(text: str, language: str = "en") -> list[tuple[int, str]]:
    """Return (where it starts in the text, sentence) of every sentence, white space inside made single spaces."""
    # sentencex 1.0 breaks at white space of more than one byte; one space for each keeps all places.
    plain = _SPACE.sub(" ", text)
    found: list[tuple[int, str]] = []
    start = 0
    # Blank lines end sentences whatever stands around them, so each paragraph is divided for itself.
    for gap in _EMPTY_LINES.finditer(plain):
        found += _sentences_between(plain, start, gap.start(), language)
        start = gap.end()
    found += _sentences_between(plain, start, len(plain), language)
    return found


def _sentences_between(text: str, start: int, end: int, language: str) -> list[tuple[int, str]]:
    """Return the sentences of a paragraph, which is shown to the library a window at a time.

    The library takes a time that grows with the square of the length of what it is given, where many quotation marks
    open and none closes. The last sentences of a window are looked at again in the next one, as they may be
    cut, or be inside a quotation that ends beyond the window.
    """
    found: list[tuple[int, str]] = []
    while end - start > WINDOW:
        window_end = start + WINDOW
        parts = _parts(text, start, window_end, language)
        whole = [(place, part) for place, part in parts if place + len(part) <= window_end - OVERLAP]
        if not whole and len(parts) > 1:
            whole = parts[:1]
        if whole:
            found += whole
            place, part = whole[-1]
            start = place + len(part)
        else:
            # No sentence ends here: it is no text of sentences, and is cut between two words.
            space = text.rfind(" ", start + 1, window_end)
            middle = space if space > start else window_end
            part = text[start:middle].strip()
            if part:
                found.append((text.index(part, start), part))
            start = middle
    found += _parts(text, start, end, language)
    return [(place, collapsed(part)) for place, part in found]


def _parts(text: str, start: int, end: int, language: str) -> list[tuple[int, str]]:
    """Return (where it starts in the whole text, sentence as it stands there) of a part of a text."""
    import sentencex

    found = []
    place = start
    for part in sentencex.segment(language, text[start:end]):
        sentence = part.strip()
        if sentence:
            # Looked for, not counted: the library leaves line ends out here and there.
            place = text.index(sentence, place)
            found.append((place, sentence))
            place += len(sentence)
    return found


def collapsed(text: str) -> str:
    """Return a text with single spaces for all white space, and none around it."""
    return " ".join(text.split())


def _paragraphs(text: str) -> tuple[str, ...]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    paragraphs = [collapsed(part) for part in _BLANK.split(lines)]
    return tuple(paragraph for paragraph in paragraphs if paragraph)


def overlap_of(size: int) -> int:
    """Return how many words neighbouring windows of a size share: a tenth, one at least; none where it is below 2."""
    return max(1, size // 10) if size > 1 else 0


def _windows(text: str, size: int) -> tuple[str, ...]:
    """Return windows of ``size`` words, of which neighbours share a tenth, one word at least."""
    words = text.split()
    overlap = overlap_of(size)
    # The last window begins before the words that the one before it has already.
    last = max(len(words) - overlap, 1)
    return tuple(" ".join(words[start : start + size]) for start in range(0, last, size - overlap))
