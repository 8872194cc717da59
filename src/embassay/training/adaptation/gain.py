"""What adaptation gained and what it cost, from a result and its item values: no model and no text.

A change is the paired difference between a variant and another encoder on the same items, with the interval and the
corrected p-value of the result. :mod:`embassay.training.adaptation.wording` writes the sentences.
"""

from __future__ import annotations

from collections.abc import Sequence

from embassay.comparison.differences import Change, Pair, difference_in_run
from embassay.core.columns import ItemColumn
from embassay.core.result import Result
from embassay.training.adaptation.variants import BASE, BOTH, FINETUNED, PRETRAINED


def changes(result: Result, columns: Sequence[ItemColumn], other: str = BASE) -> list[Change]:
    """Return the change of each variant on the headline metric of each diagnostic and corpus.

    Parameters
    ----------
    columns
        The item values of the run.
    other
        The label of the encoder that the variants are compared with.
    """
    headline_of = {(column.task, column.encoder): column for column in columns if column.is_headline}
    all_changes = []
    for comparison in result.comparisons:
        task, labels = (comparison.diagnostic, comparison.corpus), {comparison.a, comparison.b}
        # The lexical baselines and other encoders of the run are no variants.
        for variant in labels.intersection((BASE, PRETRAINED, FINETUNED, BOTH)) - {other}:
            old, new = headline_of.get((task, other)), headline_of.get((task, variant))
            if other in labels and old is not None and new is not None and new.key.covers(comparison.key):
                pair = Pair(old, new, variant, comparison.metric, new.margin or 0.0)
                all_changes.append(difference_in_run(pair, comparison))
    return all_changes
