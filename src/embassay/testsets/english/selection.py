"""Which sentences become originals, as HEROS selected them (Chiang et al. 2023, section 2.2.1 and appendix A.1).

More than 8 and fewer than 25 words, grammatical, no profanity, no question, at most one ``[NAME]``. Beyond HEROS a text
of several sentences, a fragment of markup or a quotation is left out: its edits could not be judged without it.
"""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

from embassay.errors import MissingExtraError
from embassay.testsets.english.words import PLACEHOLDER, straight

SHORTEST, LONGEST = 9, 24
"""Words of an original, at least and at most."""
NAME = "Jackie"
"""What HEROS puts for ``[NAME]``."""
_PLAIN = re.compile(r"[A-Za-zÀ-ÖØ-öø-ÿ0-9 ,;:'’().!$£€%&…\-–—/\[\]]+")
_BREAK = re.compile(
    r"(?<!\b[A-Z])(?<!\bMr|\bMs|\bDr|\bSt|\bvs)(?<!\bMrs|\betc)(?:[.!?…]+[\")”]?\s+(?=[\"“(\[]?[A-Z]))|\n+"
)
_INNER = re.compile(r"(?<!\b[A-Z])(?<!\bMr|\bMs|\bDr|\bSt|\bvs)(?<!\bMrs|\betc)[.!…]+(?:\s+(?=\S)|(?=[A-Za-z(]))")
_WEBBY = re.compile(r"(?i)https?:|www\.|\b[ru]/|\bedit\b:|^tl;?dr|:\)|:\(|;\)|\(:|:d\b|:p\b|/s\b|[:;]-|&[a-z]+;|&#")
_FRAGMENT = re.compile(
    r"(?i)i mean\b|you know,|believe it|(?:and |but |or |so |yeah,? |well,? |honestly,? |just )*"
    r"(?:which|like|than|as|whose|because|assuming|think|thinks|thought|hope|hoping|hopefully|guess|thank|thanks|glad|"
    r"happy|sad|sorry|love|loved|loves|hate|hated|agree|agreed|disagree|feel|feels|felt|wish|doubt|bet|looks|sounds|"
    r"seems|makes|made|means|figured|imagine|not|more|most|can't|couldn't|wasn't|isn't|doesn't|don't (?:think|know|"
    r"understand|get|see|like|remember|agree|care|have|want|even|believe)|haven't|won't|didn't|put|given|based|compared)\b"
)
"""Beginnings of what is no clause, or one without its subject."""
_ASKS = re.compile(
    r"(?i)(?:and |but |so |or |well,? )*(?:(?:do|does|did) (?:you|he|she|they|we|i|anyone|people)|(?:is|are|was|were|"
    r"can|could|would|will|should|have|has|had|am) (?:you|he|she|they|we|i|it|this|that|there|anyone)|don['’]t you)\b"
)
"""Beginnings of a question, also of one without its mark."""
_LOUD = re.compile(r"[A-Z]{5,}|(\w)\1{3,}|\.\.|…|!!|--")


def unfit(text: str) -> str:
    """Return why a text is no original, all but its grammar; empty where it is one.

    The reasons are tried in this order: words, placeholders, question, markup, several sentences, emphasis, profanity.
    """
    size, names = len(text.split()), PLACEHOLDER.findall(text)
    checks = (
        (size < SHORTEST, f"fewer than {SHORTEST} words"),
        (size > LONGEST, f"more than {LONGEST} words"),
        (any(name != "[NAME]" for name in names), "a placeholder other than [NAME]"),
        (len(names) > 1, "more than one [NAME]"),
        ("?" in text or bool(_ASKS.match(text)), "a question"),
        (not _PLAIN.fullmatch(text) or bool(_WEBBY.search(text)), "quotation, markup, emoticon or address"),
        (bool(_INNER.search(text)), "several sentences"),
        (bool(_FRAGMENT.match(straight(text))), "no subject, or a subordinate clause alone"),
        (bool(_LOUD.search(text)), "dots, capitals or letters in a row"),
    )
    for fails, reason in checks:
        if fails:
            return reason
    return "profanity" if is_profane(text) else ""


def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text: it is parted where a full stop stands before a capital."""
    places = [0, *(match.end() for match in _BREAK.finditer(text)), len(text)]
    return tuple(part for a, b in pairwise(places) if (part := text[a:b].strip()))


def named(text: str, name: str = NAME) -> str:
    """Return the text with a name in the place of ``[NAME]``."""
    return text.replace("[NAME]", name)


def is_profane(text: str) -> bool:
    """Return whether a text has a word, or two words in a row, of the better-profanity package's list."""
    words = re.findall(r"[a-z0-9'-]+", text.lower().replace("’", "'"))
    listed = _profane()
    candidates = {*words, *(word.rstrip("s") for word in words)}
    candidates.update(f"{first} {second}" for first, second in pairwise(words))
    return not listed.isdisjoint(candidates)


@cache
def _profane() -> frozenset[str]:
    """Return the package's list, read as the file that it is: its own matcher takes 10 ms a sentence."""
    spec = importlib.util.find_spec("better_profanity")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError("building minimal pairs", "build")
    file = Path(spec.submodule_search_locations[0]) / "profanity_wordlist.txt"
    return frozenset(line.strip().lower() for line in file.read_text(encoding="utf-8").split("\n") if line.strip())
