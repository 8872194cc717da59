"""How evenly do an encoder's vectors fill their space?

Roychowdhury et al. (2024), section 3: I_A (Mu & Viswanath 2018) and IsoScore (Rudman et al. 2022) of the distinct texts
of any corpus, as they are and, where they are dense, after three transforms fitted on them. A description of these
texts' vectors, not a verdict: that isotropy makes an encoder better has not been shown.

Every figure depends on how many texts there are. The number of dimensions used, ``participation_ratio``, is estimated
without that bias; a finding states it only where there are ``TEXTS_PER_DIMENSION`` times as many texts.

The paper's two columns are labelled the wrong way round: the first is IsoScore (``docs/isotropy.md``).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from embassay.core.claims import COUNT, Template
from embassay.core.layout import Drawings
from embassay.core.result import Estimate, Finding, Row
from embassay.core.types import Corpus, Draws, ItemScores, Origin
from embassay.core.vectors import Vectors
from embassay.diagnostics.isotropy_metrics import ISOTROPY_METRICS, measured
from embassay.diagnostics.method import Method, item_scores
from embassay.diagnostics.metrics.scoreboard import View
from embassay.diagnostics.metrics.summary import Figures, MetricSummary, row
from embassay.stats.geometry import transforms
from embassay.stats.geometry.isotropy import WIDEST
from embassay.stats.resample import undefined_estimate

CITATION = """@inproceedings{rudman2022,
  author = {Rudman, William and Gillman, Nate and Rayne, Taylor and Eickhoff, Carsten},
  title = {{IsoScore}: Measuring the Uniformity of Embedding Space Utilization},
  booktitle = {Findings of the Association for Computational Linguistics: ACL 2022},
  year = {2022},
  doi = {10.18653/v1/2022.findings-acl.262}
}"""
NAME = "isotropy"
VERSION = 3
"""To be raised with each change after which the same vectors have other scores or figures."""
METRICS = ISOTROPY_METRICS
SUBSETS = {"text": "texts", "query": "queries", "document": "documents"}
TRANSFORMED = ("i_a", "isoscore", "participation_ratio_plugin", "mean_cosine")
"""What is also measured after a transform. The transform is fitted on the same texts, so their vectors are no longer
independent of each other, and the unbiased estimates, which assume that, would be wrong: after whitening, 1,000 texts
of 384 dimensions would seem to use 622."""
UNBIASED = ("isoscore_unbiased", "participation_ratio")
UNTRANSFORMED = ("i_a", "isoscore", *UNBIASED, "participation_ratio_plugin", "mean_cosine")
TEXTS_PER_DIMENSION = 5
"""The number of dimensions used is stated from this many texts per dimension used on."""

DIMENSIONS_USED = Template(
    "{encoder}: the {subset} use {used:.0f} of {dimensions:,.0f} dimensions (participation ratio); two of them have a "
    "mean cosine of {cosine:.2f}.",
    f"there are {TEXTS_PER_DIMENSION} times as many texts as dimensions that are used",
    COUNT,
    title="Dimensions used by the {subset}",
    question="Dimensions",
)
TOO_FEW_TEXTS = replace(
    DIMENSIONS_USED,
    text="{encoder}: {texts:,.0f} {subset} are too few to say how many of {dimensions:,.0f} dimensions they use: that "
    "takes about {needed:,} (participation ratio); two of them have a mean cosine of {cosine:.2f}.",
    when="there are fewer",
)


def by_condition(vectors: Any) -> dict[str, dict[str, float]]:
    """Return the figures of (n, d) vectors by condition and name; undefined ones are missing."""
    is_dense = not issparse(vectors)
    values = {"": measured(vectors, UNTRANSFORMED)}
    values[""] |= {"width": float(vectors.shape[1]), "dense": float(is_dense)}
    for name in transforms.NAMES if is_dense else ():
        fitted = transforms.fit(name, vectors)
        if fitted is None:
            # There are too few different vectors to fit the transform on, so its values are undefined.
            continue
        transformed = fitted.apply(vectors)
        defined = transformed[~np.isnan(transformed).any(axis=1)]
        values[name] = measured(defined, TRANSFORMED)
        values[name]["rank"] = float(fitted.rank)
    return values


class IsotropyView(View):
    """One encoder's figures."""

    @property
    def subsets(self) -> dict[str, int]:
        """How many texts of each kind there are, where there are some."""
        number_of_role = Counter(self.scores.labels["role"].tolist())
        return {subset: number_of_role[role] for role, subset in SUBSETS.items() if number_of_role[role]}

    def values(self, subset: str, condition: str = "") -> dict[str, float]:
        """Return the figures of one kind of texts by name, untransformed or after a transform."""
        prefix = f"{subset}/{condition}/"
        scalars = self.scores.scalars
        return {key.removeprefix(prefix): value for key, value in scalars.items() if key.startswith(prefix)}


def _estimate(metric: str, values: Mapping[str, float], texts: int) -> Estimate:
    """Return the estimate of one metric of ``texts`` texts, without an interval."""
    value = values.get(metric)
    if value is None:
        return undefined_estimate(texts, _reason(metric, values))
    used = int(values.get("rows") or texts)
    return Estimate(value, None, None, used, used, texts - used)


def _reason(metric: str, values: Mapping[str, float]) -> str:
    """Return why a metric is undefined."""
    rows = values.get("rows")
    if rows is None:
        return "fewer than two texts whose vectors differ"
    if metric == "i_a" and rows > WIDEST:
        return f"needs all singular values, which are computed up to {WIDEST:,} texts or dimensions"
    if metric in UNBIASED and "participation_ratio_plugin" in values:
        return f"{rows:.0f} texts are too few, or too different, to estimate it without bias"
    return "fewer than two texts whose vectors differ, or one dimension"


DRAWINGS = Drawings(
    "Mu & Viswanath (2018); Rudman et al. (2022), IsoScore; Roychowdhury et al. (2024), section 3; Chen, Zhang & Zhong "
    "(2010), unbiased traces",
    note="A description of these texts' vectors, without intervals: that isotropy makes an encoder better has not been "
    "shown. With fewer texts than twice the dimensions, whitening overfits.",
)


class IsotropyMethod(Method):
    """The diagnostic; see the module's documentation."""

    shape = "any"
    view = IsotropyView
    metrics = METRICS

    def score(self, corpus: Corpus[Any], vectors: Vectors, origin: Origin) -> ItemScores:
        """Measure the vectors of each role's texts, untransformed and transformed: an item is a text."""
        texts = corpus.texts()
        stored: dict[str, Any] = {"role": np.array([role for role, _ in texts])}
        for role, subset in SUBSETS.items():
            rows = [vectors.row[text] for text in texts if text[0] == role]
            if rows:
                for condition, values in by_condition(vectors.matrix[rows]).items():
                    stored |= {f"{subset}/{condition}/{name}": value for name, value in values.items()}
        places = np.arange(len(texts))
        return item_scores(
            origin, stored, item=places.astype(str).tolist(), unit=places, similarity_function="isotropy"
        )

    def rows(self, figures: Figures[IsotropyView], draws: Draws) -> list[Row]:
        """Return the metrics of each kind of text, untransformed and after each transform."""
        rows = list[Row]()
        for view in figures.views:
            for subset, texts in view.subsets.items():
                is_dense = view.values(subset).get("dense")
                for condition in ("", *transforms.NAMES) if is_dense else ("",):
                    values = view.values(subset, condition)
                    for metric in (*TRANSFORMED, "rank") if condition else UNTRANSFORMED:
                        estimate = _estimate(metric, values, texts)
                        rows.append(row(view.scores, draws, metric, subset, estimate, condition))
        return rows

    def findings(self, figures: Figures[IsotropyView], summary: MetricSummary) -> Iterator[Finding]:
        """Yield how many dimensions each encoder uses, and where there are too few texts for that."""
        for view in figures.views:
            for subset in () if view.is_baseline else view.subsets:
                values = view.values(subset)
                if "participation_ratio_plugin" not in values:
                    continue
                width, rows, ratio = values["width"], values.get("rows", 0.0), values.get("participation_ratio")
                # By chance the estimate may be above the number of dimensions; without one, all of them may be in use.
                used = width if ratio is None else min(ratio, width)
                needed = math.ceil(TEXTS_PER_DIMENSION * used)
                template = DIMENSIONS_USED if rows >= needed and ratio is not None else TOO_FEW_TEXTS
                yield template.finding(
                    view.scores.origin,
                    encoder=view.encoder,
                    subset=subset,
                    dimensions=width,
                    texts=rows,
                    cosine=values.get("mean_cosine", 0.0),
                    used=used,
                    needed=needed,
                )


def create() -> IsotropyMethod:
    """Make the diagnostic."""
    return IsotropyMethod()
