"""Cutting a document into passages: whole, by paragraph, by sentence, or by N words with a tenth overlapping."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from embassay.errors import SpecError

Cut = Callable[[str], tuple[str, ...]]
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
        told = f"{', '.join(known)} or a number of words, 1 or more"
        raise SpecError(f"passages must be {told}; it is {passages!r}")
    return partial(_windows, size=int(wanted))


def sentences(text: str, language: str = "en") -> list[tuple[int, str]]:
    """Return (where it starts in the text, sentence) of every sentence, white space inside made single spaces."""
    import sentencex

    # sentencex 1.0 breaks at white space of more than one byte; one space for each keeps all places.
    plain = _SPACE.sub(" ", text)
    found, place = [], 0
    for part in sentencex.segment(language, plain):
        if core := part.strip():
            # Looked for, not counted: it leaves line ends out here and there.
            place = plain.index(core, place)
            found.append((place, collapsed(core)))
            place += len(core)
    return found


def collapsed(text: str) -> str:
    """Return a text with single spaces for all white space, and none around it."""
    return " ".join(text.split())


def _paragraphs(text: str) -> tuple[str, ...]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return tuple(found for part in _BLANK.split(lines) if (found := collapsed(part)))


def _windows(text: str, size: int) -> tuple[str, ...]:
    words = text.split()
    overlap = max(1, size // 10) if size > 1 else 0
    starts = range(0, max(len(words) - overlap, 1), size - overlap)
    return tuple(" ".join(words[start : start + size]) for start in starts)
