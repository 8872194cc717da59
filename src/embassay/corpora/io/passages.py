"""Dividing a document into passages: whole, by section, paragraph, sentence, or N words or tokens, a tenth shared."""

from __future__ import annotations

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from embassay.core.errors import SpecError, quoted
from embassay.core.samples.retrieval import length
from embassay.stats.lexical.tokens import word_pieces
from embassay.stats.lexical.words import UNSPACED

WAYS = ("document", "section", "paragraph", "sentence")
CONTEXTS = ("", "title", "headings")
"""What stands before each passage: nothing, the first heading of the document, or all headings above it."""
SPECIAL_TOKENS = 2
"""The tokens that a model adds to each text: one before it, one after it."""
FEWEST_WORDS = 50
"""A passage of fewer words takes the next paragraph of its section; docs/decisions/retrieval.md has the figures."""
HEADING = re.compile(r" {0,3}(#{1,6})\s+(\S.*?)\s*#*\s*$")
"""A heading of Markdown: its marks and its text."""
_FENCED = re.compile(
    r"^ {0,3}(?:(?:[-*+]|\d+[.)]) +)?(?P<fence>`{3,}(?=[^`\n]*$)|~{3,}).*\n"
    r"(?:.*\n)*?(?:[ \t]*(?P=fence)[`~]*[ \t]*$|\Z)",
    re.MULTILINE,
)
"""Code between fences, which may begin in an item of a list; without a second fence it is the rest of the text."""
_COMMENT = re.compile(r"^ {0,3}(?=#)", re.MULTILINE)
_PARAGRAPH = re.compile(r"(?:[^\n]|\n(?!\n))+")
WINDOW = 5_000
_BLANK = re.compile(r"\n(?:[^\S\n]*\n)+")
_DOTTED_NAME = re.compile(r"[A-Za-z0-9_]\.[A-Za-z_]")
"""A full stop inside a name, as in ``np.Array``: no white space follows it."""
_SPACE = re.compile(r"[^\S\t\n\r ]")
_UNSPACED = re.compile(f"[{UNSPACED}]+")


class Piece(NamedTuple):
    """A passage, and how many characters without white space it shares with the one before it."""

    text: str
    shared: int = 0


class Cutter:
    """Divides texts into passages.

    Attributes
    ----------
    way
        One of :data:`WAYS`, else the size of a window.
    context
        One of :data:`CONTEXTS`.
    size
        The number of words of a window, or of tokens without special ones; 0 for the other ways.
    """

    def __init__(self, passages: str, language: str = "en") -> None:
        """Choose how texts are divided.

        Parameters
        ----------
        passages
            ``document``: the text, stripped. ``section``: the headings and the text between two of them.
            ``paragraph``: the text between blank lines, joined with what follows in its section up to
            :data:`FEWEST_WORDS` words. ``sentence``. A number N: windows of N words; neighbours share a tenth of them,
            at least one word. ``Ntokens``: windows of whole words that fill at most N tokens of a model with the
            tokenizer of bert-base-uncased, its two special tokens included. A table is never divided. White space
            inside a passage becomes single spaces, except in whole documents. ``+title`` or ``+headings`` after it sets
            these before each passage: ``100+headings``.
        language
            The language whose rules decide where a sentence ends; general rules for languages unknown to sentencex.

        Raises
        ------
        SpecError
            For any other value, for a number below 1, and for tokens without the package that has the tokenizer.
        """
        self.passages, self._language = passages.strip(), language
        self.way, _, self.context = self.passages.partition("+")
        number = self.way.removesuffix("tokens")
        self.size = int(number) if re.fullmatch("[1-9][0-9]{0,8}", number) else 0
        if not (self.size or self.way in WAYS) or self.context not in CONTEXTS:
            raise SpecError(
                f"passages must be {', '.join(WAYS)}, a number of words (at least 1) or of tokens (256tokens), and may "
                f"end with +title or +headings; it is {quoted(passages)}; several as a list: passages=[document,100]"
            )
        self._pieces_of = None
        if number != self.way:
            self._pieces_of = word_pieces()
            if self._pieces_of is None:
                raise SpecError(f"passages={self.way} needs a tokenizer: pip install 'embassay[minilm]'")
            self.size = max(1, self.size - SPECIAL_TOKENS)

    def __call__(self, text: str) -> list[Piece]:
        """Return the passages of a text that is not blank, at least one."""
        match self.way:
            case "document":
                parts = [text.strip()]
            case "section":
                parts = [collapsed(section.whole) for section in sections_of(text)]
            case "paragraph":
                parts = _joined_paragraphs(text)
            case _:
                parts = []
                for block in _BLANK.split(text):
                    if _is_table(block):
                        parts.append(collapsed(block))
                    elif self.size:
                        parts += block.split()
                    else:
                        parts += whole_sentences(block, self._language)
        return self._windows(parts) if self.size else [Piece(part) for part in parts if part]

    def _windows(self, parts: Sequence[str]) -> list[Piece]:
        """Return windows of words and tables; neighbours share a tenth of their words or tokens, at least one word."""
        sizes = [len(part.split()) for part in parts]
        if self._pieces_of:
            sizes = list(map(len, self._pieces_of(parts)))
        ends = [0, *accumulate(sizes)]
        pieces, first, read = list[Piece](), 0, 0
        # A window of only words that the previous one already has would add nothing.
        while read < len(parts):
            end = max(first + 1, bisect_right(ends, ends[first] + self.size) - 1)
            pieces.append(Piece(" ".join(parts[first:end]), length(" ".join(parts[first:read]))))
            read = end
            if read < len(parts):
                # The next window begins with the last words of this one, if it has room for the word after them.
                room = min(max(1, self.size // 10), self.size - sizes[read])
                first = min(read, max(first + 1, bisect_left(ends, ends[read] - room)))
        return pieces


def _is_table(block: str) -> bool:
    """Return whether a part of a text between blank lines is a table: rows with tabs between cells, or with ``|``."""
    first_lines = block.strip().split("\n", 2)[:2]
    return len(first_lines) > 1 and any("\t" in line.strip() or line.startswith("|") for line in first_lines)


def sentences(text: str, language: str = "en") -> list[tuple[int, str]]:
    """Return (start in the text, sentence) of every sentence, with single spaces for white space inside.

    A text without line ends is read in windows of :data:`WINDOW` characters, because the time of the library grows with
    the square of a paragraph's length. What begins in the second half of a window is read again in the next one, so
    that each sentence is seen with what follows it.
    """
    import sentencex

    # sentencex 1.0 breaks at white space of more than one byte; replacing each by one space keeps all positions.
    plain = _SPACE.sub(" ", text)
    placed = []
    # Blank lines always end sentences, so each paragraph is divided separately.
    for paragraph in _PARAGRAPH.finditer(plain):
        start, end = paragraph.span()
        while start < end:
            place, stop = start, min(start + WINDOW, end)
            for part in sentencex.segment(language, plain[start:stop]):
                sentence = part.strip()
                # The position is searched, not counted, because the library sometimes drops line ends.
                place = plain.index(sentence, place)
                if stop < end and place > start + WINDOW // 2:
                    start = place
                    break
                if sentence:
                    placed.append((place, collapsed(sentence)))
                place += len(sentence)
            else:
                start = stop
    return placed


def whole_sentences(text: str, language: str = "en") -> list[str]:
    """Return the sentences of :func:`sentences`, but no dotted name is divided: ``np.Array``, ``settings.TIME_ZONE``.

    The library takes the capital after a full stop for the start of a sentence, also without white space between them.
    Prose that lacks this space is not divided there either.
    """
    whole: list[str] = []
    for place, sentence in sentences(text, language):
        if whole and _DOTTED_NAME.match(text, place - 2):
            whole[-1] += sentence
        else:
            whole.append(sentence)
    return whole


def collapsed(text: str) -> str:
    """Return a text with single spaces for all white space, stripped."""
    return " ".join(text.split())


def word_count(text: str) -> int:
    """Return the number of words; in scripts without spaces between words, two characters count as one."""
    unspaced = sum(map(len, _UNSPACED.findall(text)))
    return len(_UNSPACED.sub(" ", text).split()) + math.ceil(unspaced / 2)


def code_indented(text: str) -> str:
    """Return a text in Markdown in which the comments in fenced code are indented, so that they are no headings."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n") + "\n"
    return _FENCED.sub(lambda code: _COMMENT.sub("    ", code[0]), lines)


def paragraphs(text: str) -> list[str]:
    """Return the texts between blank lines, as they are written there but for indented comments in code."""
    return [part for part in _BLANK.split(code_indented(text).strip("\n")) if part.strip()]


class Heading(NamedTuple):
    """A heading of a text in Markdown: its place, in characters without white space, its level, words, and line."""

    place: int
    level: int
    words: str
    line: str


class Section(NamedTuple):
    """A part of a text in Markdown: the headings before it, and the text under them."""

    headings: list[Heading]
    text: str

    @property
    def whole(self) -> str:
        """The headings and the text, with blank lines between them."""
        return "\n\n".join([*(heading.line for heading in self.headings), self.text])


def sections_of(text: str) -> list[Section]:
    """Divide a text in Markdown at its headings; comments in fenced code are none.

    Headings without a text go with the next section; at the end of the text they are a section of their own.
    """
    sections = []
    headings, lines, place = list[Heading](), list[str](), 0
    for line in code_indented(text).split("\n"):
        heading = HEADING.match(line)
        if heading is None:
            lines.append(line)
        else:
            if any(map(str.strip, lines)):
                sections.append(Section(headings, "\n".join(lines)))
                headings, lines = [], []
            headings.append(Heading(place, len(heading[1]), collapsed(heading[2]), line))
        place += length(line)
    return [*sections, Section(headings, "\n".join(lines))]


def _joined_paragraphs(text: str) -> list[str]:
    """Return the paragraphs, the short ones of a section joined: headings and items of lists answer no question alone.

    A passage takes the next paragraph of its section while it has fewer than :data:`FEWEST_WORDS` words; a short rest
    at the end of the section belongs to the passage before it.
    """
    passages = []
    for section in sections_of(text):
        joined: list[str] = []
        for part in _BLANK.split(section.whole):
            paragraph = collapsed(part)
            if joined and word_count(joined[-1]) < FEWEST_WORDS:
                joined[-1] = f"{joined[-1]} {paragraph}".strip()
            elif paragraph:
                joined.append(paragraph)
        if len(joined) > 1 and word_count(joined[-1]) < FEWEST_WORDS:
            joined[-2:] = [" ".join(joined[-2:])]
        passages += joined
    return passages
