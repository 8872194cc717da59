"""Trees by the program ``link-parser`` (Debian's package ``link-grammar``): constituents of a link grammar of English.

Source: Sleator, Temperley (1993), "Parsing English with a link grammar". The program parses a sentence alike alone
and among others, each time: what it draws at random it draws from a fixed seed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from embassay.encoders.lexical.counts import TOKENS
from embassay.encoders.static.trees import Nesting, Shape
from embassay.errors import EncoderError

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
"""Complete linkages only, the cheapest of at most so many; no clock decides what is found."""
LONGEST_WORDS, LONGEST_BYTES = 60, 2000
"""Longer sentences are not asked for: time and memory grow steeply, and the program ends at 2047 bytes."""
BLOCK = 200
"""Sentences for each start of the program, which takes some tenths of a second."""
PROCESSES = 4
_END = "width set to 100000"
_LEADING = re.compile(r"[^\w\"'(\[$€£]+")
"""What a sentence may not begin with: the program takes some signs for commands."""
_MARKS = re.compile(r"(\{[?!~&]+\})?(\.#?[a-z][\w=-]*)?$")
"""What the program puts after a word: how it was guessed, and which sense it is."""


def installed() -> bool:
    """Say whether the program is there."""
    return shutil.which(PROGRAM) is not None


def version() -> str:
    """Return the program's version; empty where it is not there."""
    if not installed():
        return ""
    answer = subprocess.run(  # noqa: S603
        [PROGRAM, "--version"],
        capture_output=True,
        check=False,
        text=True,
        errors="replace",
    )
    found = re.search(r"link-grammar-([\w.]+)", answer.stdout + answer.stderr)
    return found[1] if found else "unknown"


def parse(texts: Sequence[str]) -> list[Shape | None]:
    """Return the shape of each text over its words (lower-cased, cut by ``TOKENS``).

    None where there is no complete linkage, where the text is too long or has fewer than two words, or where the
    program's words are not those of the text.

    Raises
    ------
    EncoderError
        If the program fails.
    """
    asked = {text: line for text in dict.fromkeys(texts) if (line := _askable(text))}
    blocks = [list(asked)[start : start + BLOCK] for start in range(0, len(asked), BLOCK)]
    with ThreadPoolExecutor(PROCESSES) as pool:
        answers = pool.map(lambda block: _answers([asked[text] for text in block]), blocks)
        found = {
            text: _shape(text, answer) if answer else None
            for block, own in zip(blocks, answers, strict=True)
            for text, answer in zip(block, own, strict=True)
        }
    return [found.get(text) for text in texts]


def _askable(text: str) -> str:
    """Return the line to send, empty for none; it has as many characters as the text, less those it begins with."""
    line = "".join(c if c.isprintable() else " " for c in text)
    line = line[_start(line) :]
    short = 1 < len(re.findall(TOKENS, text.lower())) <= LONGEST_WORDS
    return line if short and line.strip() and len(line.encode("utf-8", "replace")) <= LONGEST_BYTES else ""


def _start(line: str) -> int:
    leading = _LEADING.match(line)
    return leading.end() if leading else 0


def _answers(lines: Sequence[str]) -> list[str]:
    """Return what the program says of each line; empty where it found no linkage."""
    # A command after each sentence, because its answer marks the end of what belongs to the sentence.
    sent = "".join(f"{line}\n!width=100000\n" for line in lines)
    options = [f"-{name}={value}" for name, value in OPTIONS.items()]
    answer = subprocess.run(  # noqa: S603
        [PROGRAM, LANGUAGE, *options],
        input=sent.encode("utf-8", "replace"),
        capture_output=True,
        check=False,
    )
    found, last = [], ""
    for line in answer.stdout.decode("utf-8", "replace").split("\n"):
        if line.startswith("["):
            last = line
        elif line == _END:
            found.append(last)
            last = ""
    if answer.returncode or len(found) != len(lines):
        reason = (answer.stderr.decode("utf-8", "replace").strip().split("\n") or [""])[-1]
        raise EncoderError(f"{PROGRAM} failed ({reason}); trees=right needs no parser")
    return found


def _shape(text: str, answer: str) -> Shape | None:
    """Return the shape over the text's own words that the program's brackets give; None where its words differ."""
    parts = answer.split()
    leaves = [part for part in parts if not re.fullmatch(r"\[[A-Z]+|[A-Z]+\]", part)]
    starts = _starts(text, leaves)
    if starts is None:
        return None
    owners = [max(bisect_right(starts, word.start()) - 1, 0) for word in re.finditer(TOKENS, text.lower())]
    counts = [0] * len(leaves)
    for owner in owners:
        counts[owner] += 1
    nesting, own = Nesting(), iter(counts)
    for part in parts:
        if re.fullmatch(r"\[[A-Z]+", part):
            nesting.open()
        elif re.fullmatch(r"[A-Z]+\]", part):
            nesting.close()
        else:
            nesting.open()
            for _ in range(next(own)):
                nesting.leaf()
            nesting.close()
    return nesting.shape()


def _starts(text: str, leaves: Sequence[str]) -> list[int] | None:
    """Return where each of the program's words begins in the text; None where one is not found in its turn."""
    lower = text.lower().translate({ord("["): "{", ord("]"): "}"})
    place, starts = _start("".join(c if c.isprintable() else " " for c in text)), []
    for leaf in leaves:
        while place < len(lower) and lower[place].isspace():
            place += 1
        word = next((w for w in _readings(leaf.lower()) if lower.startswith(w, place)), None)
        if word is None:
            return None
        starts.append(place)
        place += len(word)
    return starts if starts else None


def _readings(leaf: str) -> Iterator[str]:
    """Yield what a word of the program may stand for: as it is, then without its marks."""
    yield leaf
    bare = _MARKS.sub("", leaf)
    if bare:
        yield bare
    if len(leaf) > 2 and leaf[0] == "{" and leaf[-1] == "}":
        yield leaf[1:-1]
