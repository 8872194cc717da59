"""The figures of one diagnostic, by name, for models that another library has loaded.

Comes in: a corpus or a pair of corpora, a diagnostic, and a model. Goes out: the rows of the diagnostic's first table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from embassay.core.errors import SpecError, UnknownNameError
from embassay.core.result import Row
from embassay.core.types import AnyCorpus, Corpus, Encoder
from embassay.diagnostics.metrics.metric import Direction, declared
from embassay.reports.layouts import layouts
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_corpus, load_encoder
from embassay.run.specs import Spec, parse

PAIRED = "shift"
"""The diagnostic that compares two corpora."""
STAND_IN = "random,dim=8"
"""The encoder that provides the names of the figures before there is a model."""
Source = str | AnyCorpus


@dataclass(frozen=True)
class Watched:
    """One diagnostic on one corpus, or on a pair.

    Attributes
    ----------
    corpora
        The corpus; of a pair, the one of the domain first.
    resamples
        Bootstrap resamples. Few are enough, because other libraries show no intervals.
    """

    corpora: tuple[AnyCorpus, ...]
    diagnostic: Spec
    seed: int
    resamples: int = 100

    @classmethod
    def of(cls, corpus: Source | tuple[Source, Source], diagnostic: str, seed: int) -> Watched:
        """Load the corpora, and make the labels of a pair options of the diagnostic.

        Raises
        ------
        SpecError
            If the diagnostic needs a pair and there is none, or the other way round.
        """
        sources = corpus if isinstance(corpus, tuple) else (corpus,)
        spec = parse(diagnostic, "diagnostic")
        if (spec.head == PAIRED) != (len(sources) == 2):
            raise SpecError(
                f"diagnostic {spec.head!r}: {PAIRED!r} needs a pair of corpora (domain, general), any other one corpus"
            )
        corpora = tuple(source if isinstance(source, Corpus) else load_corpus(source) for source in sources)
        if spec.head == PAIRED:
            labels = dict(zip(("domain", "general"), (corpus.name for corpus in corpora), strict=True))
            spec = replace(spec, options={**spec.options, **labels})
        return cls(corpora, spec, seed)

    def figures(self, encoder: Encoder) -> dict[str, Row]:
        """Return the rows of the diagnostic's first table by metric, subset and condition, the headline first.

        Raises
        ------
        InputError
            If corpora and diagnostic do not match, or there is no figure.
        EncoderError
            If the encoder fails.
        """
        request = RunRequest(
            [encoder],
            self.corpora,
            [self.diagnostic],
            seed=self.seed,
            resamples=self.resamples,
            baselines=False,
            quiet=True,
        )
        outcome = execute(prepare(request))
        outcome.check()
        result = outcome.result
        # One diagnostic was run, so there is one layout and one verdict.
        (layout,) = layouts(result).values()
        (verdict,) = result.verdicts
        rows = []
        for column in layout.headline.columns:
            # If several rows have the same place in the table, the first one counts.
            rows += [row for row in result.rows if row.encoder and column.key.covers(row.key)][:1]
        if not rows:
            raise SpecError(f"diagnostic {self.diagnostic.head!r} has no figures in its first table on this corpus")
        headline = result.headline(verdict).get(encoder.name)
        rows.sort(key=lambda row: row != headline)
        return {row.key.slug(row.similarity_function).replace(" ", "_"): row for row in rows}

    def primary(self, metric: str) -> tuple[str, Direction]:
        """Return the name of the figure that decides, the headline by default, and its better direction.

        Random vectors stand in for the model, so that mistakes are reported now and not after an hour of training.

        Raises
        ------
        UnknownNameError
            If there is no such figure.
        """
        figures = self.figures(load_encoder(STAND_IN))
        if metric and metric not in figures:
            raise UnknownNameError(f"metric of diagnostic {self.diagnostic.head!r}", metric, figures)
        name = metric or next(iter(figures))
        return name, declared(figures[name].key).better
