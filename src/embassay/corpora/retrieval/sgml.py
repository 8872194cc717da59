"""TREC's SGML: documents ``<DOC>``, ``<DOCNO>``, ``<TEXT>``; topics ``<top>``, ``<num>``, ``<title>``, ``<desc>``."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from embassay.corpora.io.passages import collapsed
from embassay.corpora.io.texts import not_utf8, open_text
from embassay.errors import SourceError
from embassay.store.paths import unreadable

_LABEL = re.compile(r"\A\s*(?:Number|Topic|Description)\s*:", re.IGNORECASE)
"""Labels before the number, the title and the description of a topic, which are not part of it."""
_DOC = re.compile(r"<DOC>(.*?)</DOC>", re.IGNORECASE | re.DOTALL)
_BEGIN = re.compile(r"<DOC>", re.IGNORECASE)
_END = re.compile(r"</DOC>", re.IGNORECASE)
_DOCNO = re.compile(r"<DOCNO>([^<]*)</DOCNO>", re.IGNORECASE)
_TEXT = re.compile(r"<(/?)TEXT>", re.IGNORECASE)
_TOP = re.compile(r"<top>", re.IGNORECASE)
_SECTION = re.compile(r"<(num|title|desc|narr|/top)>", re.IGNORECASE)
_MARKUP = re.compile(r"<[^<>]+>")


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (number from 1, line with its end) of a text file."""
    number, line = 0, b""
    try:
        with open_text(path) as file:
            for number, line in enumerate(file, 1):
                yield number, line.decode("utf-8")
    except UnicodeDecodeError:
        raise not_utf8(path, number, line) from None
    except OSError as error:
        raise unreadable(error, path) from None


def sgml_documents(path: Path) -> Iterator[tuple[int, str, str]]:
    """Yield (line, id, text) of every <DOC>."""
    for first, block in _blocks(path):
        for document in _DOC.finditer(block):
            line = first + block.count("\n", 0, document.start())
            body = document[1]
            if _BEGIN.search(body):
                raise SourceError("<DOC> without </DOC>", path, line)
            number = _DOCNO.search(body)
            name = _plain(number[1]) if number else ""
            if not name:
                raise SourceError("missing", path, line, "DOCNO")
            yield line, name, _text(body)


def _blocks(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of blocks of a file, each from the start of a document to the end of one.

    Blocks are as short as lines allow, so that the whole file is never in memory.
    """
    block, first = list[str](), 1
    for number, line in text_lines(path):
        if not block:
            begin = _BEGIN.search(line)
            if not begin:
                continue
            line, first = line[begin.start() :], number
        ends = list(_END.finditer(line))
        if not ends:
            block.append(line)
            continue
        end_of_block = ends[-1].end()
        block.append(line[:end_of_block])
        yield first, "".join(block)
        # Another document may begin on the same line.
        rest = line[end_of_block:]
        begin = _BEGIN.search(rest)
        block, first = [rest[begin.start() :]] if begin else [], number
    if block:
        raise SourceError("<DOC> without </DOC>", path, first)


def _text(body: str) -> str:
    """Return the content of all <TEXT> of a document, without markup."""
    sections = list[str]()
    tags = list(_TEXT.finditer(body))
    for place, tag in enumerate(tags):
        is_closing = tag[1] == "/"
        if is_closing:
            continue
        # A section without </TEXT> ends at the next tag, or with the document.
        end = tags[place + 1].start() if place + 1 < len(tags) else len(body)
        sections.append(body[tag.end() : end])
    without_markup = _MARKUP.sub(" ", "\n".join(sections))
    return html.unescape(without_markup).strip()


def _plain(text: str) -> str:
    """Return a text without markup, with entities decoded and single spaces."""
    without_markup = _MARKUP.sub(" ", text)
    return collapsed(html.unescape(without_markup))


def has_topics(text: str) -> bool:
    """Return whether a text has topics in SGML."""
    return bool(_TOP.search(text))


def sgml_topics(path: Path, text: str, wanted: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """Yield (line, id, query) of every <top>; the query is the text of the wanted sections."""
    before, *topics = _TOP.split(text)
    line = 1 + before.count("\n")
    for topic in topics:
        sections = _sections(topic)
        for name in ("num", *wanted):
            if not sections.get(name):
                raise SourceError("missing or empty", path, line, name)
        yield line, sections["num"], " ".join(sections[name] for name in wanted)
        line += topic.count("\n")


def _sections(topic: str) -> dict[str, str]:
    """Return the first section of each name, without its label."""
    sections: dict[str, str] = {}
    tags = list(_SECTION.finditer(topic))
    for place, tag in enumerate(tags):
        # Sections have no end tags: each ends where the next begins.
        end = tags[place + 1].start() if place + 1 < len(tags) else len(topic)
        without_label = _LABEL.sub("", topic[tag.end() : end])
        sections.setdefault(tag[1].lower(), _plain(without_label))
    return sections
