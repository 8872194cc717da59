"""Trees by the program ``link-parser`` (Debian's package ``link-grammar``): constituents of a link grammar of English.

Source: Sleator, Temperley (1993), "Parsing English with a link grammar". The program gives a sentence the same parse
each time, alone or among others, because its random numbers have a fixed seed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from embassay.encoders.static.trees import Nested, Tree, binarised
from embassay.errors import EncoderError
from embassay.lexical.words import TOKEN, prepared

PROGRAM, LANGUAGE = "link-parser", "en"
INSTALL = "apt install link-grammar"
OPTIONS = {
    "constituents": 2,
    "graphics": 0,
    "verbosity": 1,
    "echo": 0,
    "spell": 0,
    "null": 0,
    "panic": 0,
    "limit": 1000,
    "timeout": 3600,
}
"""Only complete linkages, the cheapest of the first ``limit``. The timeout is too large to be reached, so that results
do not depend on the speed of the machine."""
LONGEST_WORDS, LONGEST_BYTES = 60, 2000
"""Longer sentences are not sent, because time and memory grow steeply and the program reads at most 2047 bytes."""
BLOCK = 200
"""Number of sentences per start of the program; a start takes some tenths of a second."""
PROCESSES = 4
_OPENING, _CLOSING = re.compile(r"\[[A-Z]+"), re.compile(r"[A-Z]+\]")
_END = "width set to 100000"
_LEADING = re.compile(r"[^\w\"'(\[$€£]+")
"""Characters that are removed from the start of a sentence, because the program reads some of them as commands."""
_MARKS = re.compile(r"(\{[?!~&]+\})?(\.#?[a-z][\w=-]*)?$")
"""Marks that the program adds to a word: how an unknown word was guessed, and the word's sense."""


def installed() -> bool:
    """Return whether the program is installed."""
    return shutil.which(PROGRAM) is not None


def version() -> str:
    """Return the program's version; empty if it is not installed."""
    if not installed():
        return ""
    answer = subprocess.run(  # noqa: S603
        [PROGRAM, "--version"],
        capture_output=True,
        check=False,
        text=True,
        errors="replace",
    )
    version = re.search(r"link-grammar-([\w.]+)", answer.stdout + answer.stderr)
    if version:
        return version[1]
    return "unknown"


def parse(texts: Sequence[str]) -> list[Tree | None]:
    """Return the tree of each text over its words and marks, lower-cased.

    It is None if there is no complete linkage, if the text is too long or has fewer than two words, or if the program
    changed the words of the text.

    Raises
    ------
    EncoderError
        If the program fails.
    """
    texts = list(map(prepared, texts))
    lines = {}
    for text in texts:
        line = _line(text)
        if line:
            lines[text] = line
    unique = list(lines)
    blocks = [unique[start : start + BLOCK] for start in range(0, len(unique), BLOCK)]

    def parse_block(block: Sequence[str]) -> list[str]:
        return _answers([lines[text] for text in block])

    trees: dict[str, Tree | None] = {}
    with ThreadPoolExecutor(PROCESSES) as pool:
        for block, answers in zip(blocks, pool.map(parse_block, blocks), strict=True):
            for text, answer in zip(block, answers, strict=True):
                trees[text] = tree_of(text, answer)
    return [trees.get(text) for text in texts]


def _line(text: str) -> str:
    """Return the line to send for a text; empty if the text is not sent. Only characters at its start are removed."""
    line = _printable(text)
    line = line[_start(line) :]
    words = len(TOKEN.findall(text.lower()))
    too_long = words > LONGEST_WORDS or len(line.encode("utf-8", "replace")) > LONGEST_BYTES
    if words < 2 or too_long or not line.strip():
        return ""
    return line


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)


def _start(line: str) -> int:
    """Return the index of the first character that may be sent."""
    leading = _LEADING.match(line)
    if leading:
        return leading.end()
    return 0


def _answers(lines: Sequence[str]) -> list[str]:
    """Return the program's constituents for each line; empty if it found no linkage."""
    # The answer to the command after each sentence marks the end of the sentence's output.
    sent = "".join(f"{line}\n!width=100000\n" for line in lines)
    options = [f"-{name}={value}" for name, value in OPTIONS.items()]
    answer = subprocess.run(  # noqa: S603
        [PROGRAM, LANGUAGE, *options],
        input=sent.encode("utf-8", "replace"),
        capture_output=True,
        check=False,
    )
    answers = []
    constituents = ""
    for line in answer.stdout.decode("utf-8", "replace").split("\n"):
        if line.startswith("["):
            constituents = line
        elif line == _END:
            answers.append(constituents)
            constituents = ""
    if answer.returncode or len(answers) != len(lines):
        reason = answer.stderr.decode("utf-8", "replace").strip().split("\n")[-1]
        raise EncoderError(f"{PROGRAM} failed ({reason}); trees=right needs no parser")
    return answers


def tree_of(text: str, answer: str) -> Tree | None:
    """Return the tree of the program's brackets over the text's words; None if the program's words differ.

    A word of the program may consist of several words here (``3.5`` is three); they form a subtree.
    """
    parts = answer.split()
    program_words = [part for part in parts if not _OPENING.fullmatch(part) and not _CLOSING.fullmatch(part)]
    starts = _starts(text, program_words)
    if not starts:
        return None
    words_of: list[list[str]] = [[] for _ in program_words]
    for word in TOKEN.finditer(text.lower()):
        owner = max(bisect_right(starts, word.start()) - 1, 0)
        words_of[owner].append(word[0])

    remaining = iter(words_of)
    outermost: list[Nested | str] = []
    open_brackets = [outermost]
    for part in parts:
        if _OPENING.fullmatch(part):
            bracket: list[Nested | str] = []
            open_brackets[-1].append(bracket)
            open_brackets.append(bracket)
        elif _CLOSING.fullmatch(part):
            open_brackets.pop()
        else:
            open_brackets[-1].append(next(remaining))
    return binarised(outermost)


def _starts(text: str, program_words: Sequence[str]) -> list[int] | None:
    """Return the position of each of the program's words in the text; None if a word is not next in the text."""
    # The program uses square brackets itself, so it writes those of the text as braces.
    lower = text.lower().translate({ord("["): "{", ord("]"): "}"})
    place = _start(_printable(text))
    starts = []
    for program_word in program_words:
        while place < len(lower) and lower[place].isspace():
            place += 1
        matches = [reading for reading in _readings(program_word.lower()) if lower.startswith(reading, place)]
        if not matches:
            return None
        starts.append(place)
        place += len(matches[0])
    return starts


def _readings(leaf: str) -> Iterator[str]:
    """Yield the words of the text that a word of the program may be: as it is, without marks, without braces."""
    yield leaf
    bare = _MARKS.sub("", leaf)
    if bare:
        yield bare
    if len(leaf) > 2 and leaf[0] == "{" and leaf[-1] == "}":
        yield leaf[1:-1]
