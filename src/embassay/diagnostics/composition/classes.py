"""Means over the classes of encoders that Bansal et al. (2025, section 5) compare: classical ones and LLMs."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from embassay.diagnostics.published import groups_of, published_name, table
from embassay.layout import Column
from embassay.result import Row, Series
from embassay.types import Origin

NOTE = (
    "The classes and the encoders are those of Bansal et al. (2025, section 5), who find that classical encoders "
    "satisfy C1, C3 and C4 more often than LLMs, on average. The figures of the paper are in no copy that we have."
)


def class_series(origins: Sequence[Origin], rows: Sequence[Row], columns: Sequence[Column]) -> Iterator[Series]:
    """Yield the figures of the encoders that the paper has, with mean and standard deviation of each class.

    Yields nothing if no encoder is in the paper; a spec with other options counts as another model. A mean is left
    empty if one of its encoders has no value, because it would be that of another class.

    Parameters
    ----------
    origins
        One of each encoder.
    columns
        The figures, as the page shows them.
    """
    class_of_model = groups_of("composition")
    class_of_encoder = {o.encoder: class_of_model.get(published_name(o.spec), "") for o in origins}
    value_of = {(row.encoder, row.key.within_diagnostic): row.value for row in rows}
    lines = list[list[object]]()
    for name in dict.fromkeys(class_of_model.values()):
        members = [encoder for encoder, own_class in class_of_encoder.items() if own_class == name]
        figures = [[value_of.get((encoder, column.key)) for column in columns] for encoder in members]
        lines += [[name, encoder, *values] for encoder, values in zip(members, figures, strict=True)]
        if len(members) > 1:
            lines.append([name, f"mean of {len(members)}", *map(_mean, zip(*figures, strict=True))])
            lines.append([name, "standard deviation", *map(_deviation, zip(*figures, strict=True))])
    if lines:
        formats = {column.heading: "points" if column.format == "points" else "percent" for column in columns}
        headings = {"class": "text", "encoder": "text", **formats}
        yield table(origins[0].diagnostic, origins[0].corpus, "classes", headings, lines, note=NOTE)


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean; None if a value is missing."""
    defined = [value for value in values if value is not None]
    return statistics.fmean(defined) if len(defined) == len(values) else None


def _deviation(values: Sequence[float | None]) -> float | None:
    """Return the standard deviation of a sample of encoders; None if a value is missing."""
    defined = [value for value in values if value is not None]
    return statistics.stdev(defined) if len(defined) == len(values) else None
