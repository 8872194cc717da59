"""The figures of one diagnostic on one corpus, or on a pair, as named numbers for other libraries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from embassay._version import __version__
from embassay.core.errors import InputError, SpecError
from embassay.core.plugins import DIAGNOSTICS
from embassay.core.result import Result, Row
from embassay.core.types import AnyCorpus, Draws, Encoder, content_hash
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_encoder
from embassay.run.specs import Spec

STAND_IN = "random,dim=8"
"""The encoder that provides the names of the figures before there is a model."""


def assay_one(encoder: Encoder, corpora: Sequence[AnyCorpus], diagnostic: str | Spec, draws: Draws) -> Result:
    """Return the result of one encoder and one diagnostic, without baselines.

    Raises
    ------
    InputError
        If corpora and diagnostic do not match.
    EncoderError
        If the encoder fails.
    """
    request = RunRequest(
        [encoder],
        corpora,
        [diagnostic],
        seed=draws.seed,
        resamples=draws.resamples,
        baselines=False,
        quiet=True,
    )
    outcome = execute(prepare(request), workers=1)
    outcome.check()
    return outcome.result


def headline_row(result: Result) -> Row | None:
    """Return the headline row of the only encoder; None if there is none."""
    (encoder,) = result.encoders
    return next((result.headline(verdict).get(encoder.name) for verdict in result.verdicts), None)


@dataclass(frozen=True)
class NamedFigures:
    """The figures of an encoder.

    Attributes
    ----------
    values
        The rows of the figures by name.
    headline
        The name of the headline.
    """

    values: Mapping[str, Row]
    headline: str


@dataclass(frozen=True)
class Measurement:
    """One diagnostic on one corpus, with its seed and resamples.

    Attributes
    ----------
    diagnostic
        The name of the diagnostic, with options.
    options
        The same options, parsed.
    """

    corpus: AnyCorpus
    diagnostic: str
    draws: Draws
    options: Mapping[str, object]

    @classmethod
    def of(cls, corpus: str | AnyCorpus, diagnostic: str, draws: Draws) -> Measurement:
        """Load the corpus and check that the diagnostic is for its shape.

        Raises
        ------
        InputError
            If they do not match.
        """
        try:
            request = RunRequest([STAND_IN], [corpus], [diagnostic], baselines=False, quiet=True)
            plan = prepare(request, will_score=False)
        except InputError:
            # The message about the corpora would ask for a second one, which cannot be given here.
            if _compares_corpora(diagnostic):
                raise SpecError(
                    f"diagnostic {diagnostic!r} compares two corpora, but only one can be given here: use embassay run"
                ) from None
            raise
        if plan.corpora[0].cut:
            raise SpecError(f"corpus {plan.corpora[0].name!r}: lists of options are for embassay run only")
        return cls(plan.corpora[0], diagnostic, draws, plan.tasks[0].options)

    def pin(self, *more: str) -> str:
        """Return an eight-digit hexadecimal hash of everything, except the model, that the figures depend on.

        Parameters
        ----------
        more
            Further values to include in the hash.
        """
        name = self.diagnostic.partition(",")[0]
        settings = [name, DIAGNOSTICS.version(name), dict(self.options), self.corpus.fingerprint]
        return content_hash([*settings, self.draws.seed, self.draws.resamples, __version__, *more])[:8]

    def of_stand_in(self) -> NamedFigures:
        """Return the figures of random vectors, which provide the names."""
        # Only the names are used, so two resamples will do.
        return self._named(load_encoder(STAND_IN), Draws(self.draws.seed, 2))

    def of_encoder(self, encoder: Encoder) -> NamedFigures:
        """Return the figures of an encoder.

        Raises
        ------
        EncoderError
            If the encoder fails.
        """
        return self._named(encoder, self.draws)

    def _named(self, encoder: Encoder, draws: Draws) -> NamedFigures:
        result = assay_one(encoder, [self.corpus], self.diagnostic, draws)
        rows = [row for row in result.rows if row.encoder]
        if not rows:
            raise SpecError("the diagnostic has no figures for an encoder on this corpus")
        headline = headline_row(result) or rows[0]
        values = {}
        for row in rows:
            values[row.key.slug(headline.similarity_function)] = row
        return NamedFigures(values, headline.key.slug(headline.similarity_function))


def _compares_corpora(diagnostic: str) -> bool:
    """Return whether a diagnostic compares two corpora."""
    name = diagnostic.partition(",")[0]
    return name in DIAGNOSTICS.names() and hasattr(DIAGNOSTICS.module(name).create(), "join")
