"""What marks a file of questions to label, which ``embassay plan --unlabelled`` writes and ``questions=`` reads."""

from __future__ import annotations

from typing import Literal

CHOSEN_BY = "chosen_by"
"""The column that says which of the questions are a random sample."""
TO_LABEL = "to-label-"
"""How the ids of the questions begin."""
ChosenBy = Literal["random", "disagreement"]
