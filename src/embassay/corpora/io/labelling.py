"""What marks a file of questions to label, which ``embassay plan --unlabelled`` writes and ``questions=`` reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

CHOSEN_BY = "chosen_by"
"""The column that says which of the questions are a random sample."""
TO_LABEL = "to-label-"
"""How the ids of the questions begin."""
DISAGREEMENT = "disagreement"
"""The column with how much the candidates disagree on a question."""
NO_DOCUMENT = "none"
"""What a person writes where no document answers: an empty cell of such a file is not labelled yet."""
ChosenBy = Literal["random", "disagreement"]


def is_sample(settings: Mapping[str, str]) -> bool:
    """Return whether the questions of a corpus with these settings stand for others, and were not chosen as hard."""
    return settings.get("chosen") != "disagreement"
