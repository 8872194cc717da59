"""What fine-tuning learns from: questions with texts that answer them and texts that do not."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True)
class Triplet:
    """A question, the text that answers it, and texts that do not; without wrong ones it is a pair.

    Attributes
    ----------
    rights
        All passages of the documents that answer the question; ``right`` alone where empty.
    """

    question: str
    right: str
    wrong: tuple[str, ...]
    rights: tuple[str, ...] = ()


def normalised(text: str) -> str:
    """Return a text's words in one form: Unicode NFKC, lower case, without punctuation; as it is where none is left."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded)) or folded.strip()
