"""The training data of fine-tuning: questions with texts that answer them and texts that do not."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True)
class Triplet:
    """A question, a text that answers it, and texts that do not. Without wrong texts it is a pair.

    Attributes
    ----------
    rights
        All passages of the documents that answer the question; empty if ``right`` is the only one.
    """

    question: str
    right: str
    wrong: tuple[str, ...]
    rights: tuple[str, ...] = ()


def normalised(text: str) -> str:
    """Return a text in Unicode NFKC and lower case, without punctuation unless it contains nothing else."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded)) or folded.strip()
