"""Item columns that tests make by hand."""

import numpy as np

from embassay.core.columns import ItemColumn
from embassay.core.metric_key import MetricKey

KEY = MetricKey("q", diagnostic="d", corpus="c")


def column(values, *, key=KEY, encoder="m", unit=None, ends=(0.0, 1.0), of_shares=True, lower=False, **more):
    """Return the column of (n,) item values: of answers, each its own unit, unless it is said otherwise."""
    values = np.array(values, dtype=float)
    ids = np.array([f"i{place}" for place in range(len(values))], dtype=np.str_)
    unit = np.arange(len(values)) if unit is None else unit
    codes = np.unique(unit)
    fields = {
        "key": key,
        "encoder": encoder,
        "fingerprint": encoder,
        "is_candidate": True,
        "is_base": True,
        "version": "1",
        "options": "",
        "corpus_fingerprint": "f",
        "documents": "",
        "stream": (key.diagnostic, key.corpus),
        "heading": key.metric,
        "format": "percent" if of_shares else "number",
        "better": "lower" if lower else "higher",
        "low": ends[0],
        "high": ends[1],
        "margin": 0.02,
        "is_headline": True,
        "kind": "share" if of_shares else "mean",
        "is_bounded": of_shares,
        "correlation": "",
        "item": ids,
        "content": ids,
        "text": ids,
        "unit": unit,
        "unit_labels": np.stack([codes, codes], axis=1),
        "value": values,
        "against": np.zeros(0),
        "fold": np.zeros(0, dtype=np.int64),
    }
    return ItemColumn(**fields | more)
