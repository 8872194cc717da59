"""SemAntoNeg, and choice sets in its form: JSON lines with idx, label, input, three sentences.

Source: Vahtola, Creutz & Tiedemann (2022), "It Is Not Easy To Detect Paraphrases", section 3. The
candidates stand in the order antonym, polarity, paraphrase; ``label`` is the index of the paraphrase.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from embassay.data import SEMANTONEG_V1
from embassay.errors import SourceError
from embassay.samples import Choice
from embassay.types import Corpus

SHAPE = "choice"
ARTICLES = {"a", "an", "the"}
_WORD = re.compile(r"\w+(?:['’-]\w+)*|[^\w\s]")


def recognises(head: str) -> bool:
    """Say whether the first line of a file looks like this format."""
    try:
        row = json.loads(head.split("\n", 1)[0])
    except ValueError:
        return False
    return isinstance(row, dict) and len({"label", "input", "sentences"} & row.keys()) > 1


def load(source: str, name: str, *, licence: str = "", part_of_speech: str = "adjective") -> Corpus[Choice]:
    """Read a file in SemAntoNeg's form.

    Parameters
    ----------
    source
        Path of the JSON lines file.
    licence
        What the user says of the file; known by content for SemAntoNeg v1.0.
    part_of_speech
        What the replaced words are, where a line has no field of that name.

    Raises
    ------
    SourceError
        With file, line and field, for a line that is not such an entry.
    """
    path = Path(source)
    samples = tuple(_entry(row, path, line, part_of_speech) for line, row in _lines(path))
    if not samples:
        raise SourceError("the file has no entries", path)
    _check_ids(samples, path)
    corpus = Corpus(name, SHAPE, samples, licence=licence or "unknown", loader="semantoneg")
    if corpus.fingerprint != SEMANTONEG_V1:
        return corpus
    return Corpus(
        name,
        SHAPE,
        samples,
        version="1.0",
        licence="CC-BY-4.0",
        source="Opusparcus sentences, antonyms from WordNet, checked by hand (Vahtola et al. 2022)",
        loader="semantoneg",
        notes=("this is SemAntoNeg v1.0 as released",),
    )


def pair_of(first: str, second: str) -> str:
    """Name the words in which two sentences differ: ``bad–good``, alphabetically.

    The span after the longest common prefix and suffix of their tokens, articles stripped.
    """
    a, b = ([t.lower() for t in _WORD.findall(text)] for text in (first, second))
    start = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    room = min(len(a), len(b)) - start
    end = next((i for i in range(room) if a[-1 - i] != b[-1 - i]), room)
    spans = (" ".join(t for t in side[start : len(side) - end] if t not in ARTICLES) for side in (a, b))
    return "–".join(sorted(span or "(nothing)" for span in spans))


def _lines(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, _parse(line, path, number)
    except FileNotFoundError:
        raise SourceError("no such file", path) from None
    except UnicodeDecodeError as error:
        raise SourceError(f"not UTF-8 text ({error.reason} at byte {error.start})", path) from None
    except OSError as error:
        raise SourceError(f"cannot be read: {error.strerror}", path) from None


def _parse(line: str, path: Path, number: int) -> Any:
    try:
        return json.loads(line)
    except ValueError as error:
        raise SourceError(f"not JSON: {error}", path, number) from None


def _entry(row: Any, path: Path, line: int, part_of_speech: str) -> Choice:
    if not isinstance(row, dict):
        raise SourceError("not a JSON object with idx, label, input and sentences", path, line)
    for field in ("label", "input", "sentences"):
        if field not in row:
            raise SourceError(f"missing; found {', '.join(sorted(row)) or 'nothing'}", path, line, field)
    sentences, label = row["sentences"], row["label"]
    if not isinstance(sentences, list) or len(sentences) != 3:
        found = f"{len(sentences)} of them" if isinstance(sentences, list) else type(sentences).__name__
        raise SourceError(f"must be a list of three candidates, is {found}", path, line, "sentences")
    if isinstance(label, bool) or not isinstance(label, int) or not 0 <= label < 3:
        raise SourceError(f"must be 0, 1 or 2, the index of the paraphrase, is {label!r}", path, line, "label")
    for field, text in (("input", row["input"]), *(("sentences", s) for s in sentences)):
        if not isinstance(text, str) or not text.strip():
            raise SourceError("an empty text" if isinstance(text, str) else "not a text", path, line, field)
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise SourceError("half of a surrogate pair: not a character of Unicode", path, line, field)
    antonym, polarity = (s for i, s in enumerate(sentences) if i != label)
    return Choice(
        id=str(row.get("idx", line - 1)),
        input=row["input"],
        antonym=antonym,
        polarity=polarity,
        paraphrase=sentences[label],
        part_of_speech=str(row.get("part_of_speech", part_of_speech)),
        pair=str(row.get("pair") or pair_of(row["input"], antonym)),
        negation=str(row.get("negation", "")),
    )


def _check_ids(samples: tuple[Choice, ...], path: Path) -> None:
    seen: set[str] = set()
    for sample in samples:
        if sample.id in seen:
            raise SourceError(f"{sample.id!r} occurs twice; ids must differ", path, field="idx")
        seen.add(sample.id)
