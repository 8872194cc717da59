"""What an index, or a cheaper copy of a model, lists of what the exact search of its original finds, in a sentence."""

from __future__ import annotations

from embassay.core.formatting import counted, number
from embassay.core.result import Screening
from embassay.reports.findings import templates


def screening_sentence(screening: Screening) -> str:
    """Return how much of what its original finds a set-up lists, and what follows from that."""
    of_index = screening.step == "index"
    template = {
        "same": templates.SAME_LISTS,
        "near": templates.NEAR_THE_FLOOR,
        "few": templates.FEW_QUESTIONS_FOR_LISTS,
        "differs": templates.OTHER_LISTS_OF_INDEX if of_index else templates.OTHER_LISTS,
    }[screening.outcome]
    return template.sentence(
        encoder=screening.encoder,
        overlap=number(screening.overlap),
        exact="the exact search" if of_index else screening.base,
        original="exact" if of_index else screening.base,
        settings=f" ({screening.settings})" if screening.settings else "",
        questions=counted(screening.questions, "question"),
        more=counted(screening.more_questions or 0, "more question"),
    )
