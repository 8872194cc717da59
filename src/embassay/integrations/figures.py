"""One diagnostic on one corpus as figures with names, which other evaluations keep."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from embassay._version import __version__
from embassay.errors import InputError, SpecError
from embassay.plugins import DIAGNOSTICS
from embassay.result import Result, Row, Verdict
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest
from embassay.run.resolve import load_encoder
from embassay.types import Corpus, Draws, Encoder, content_hash


@dataclass(frozen=True)
class Figures:
    """One diagnostic on one corpus, and how chance is drawn.

    Attributes
    ----------
    diagnostic
        Its name, with options.
    options
        Those of the name, read.
    """

    corpus: Corpus[Any]
    diagnostic: str
    draws: Draws
    options: Mapping[str, Any]

    @classmethod
    def of(cls, corpus: str | Corpus[Any], diagnostic: str, draws: Draws) -> Figures:
        """Load the corpus and check that the diagnostic reads it.

        Raises
        ------
        InputError
            If they do not fit.
        """
        try:
            plan = prepare(
                RunRequest(["random,dim=8"], [corpus], [diagnostic], baselines=False, quiet=True), looking=True
            )
        except InputError:
            if _sets_side_by_side(diagnostic):
                told = (
                    f"diagnostic {diagnostic!r} sets two corpora side by side, and there is one here: use embassay run"
                )
                raise SpecError(told) from None
            raise
        return cls(plan.corpora[0], diagnostic, draws, plan.tasks[0].options)

    def pin(self, *more: str) -> str:
        """Return eight hexadecimal digits of all that the figures of a model depend on but the model.

        Parameters
        ----------
        more
            What else stands beside the figures.
        """
        name, draws = self.diagnostic.partition(",")[0], self.draws
        told = [
            name,
            DIAGNOSTICS.version(name),
            dict(self.options),
            self.corpus.fingerprint,
            draws.seed,
            draws.resamples,
            __version__,
            *more,
        ]
        return content_hash(told)[:8]

    def names(self) -> tuple[tuple[str, ...], str]:
        """Return the names of all figures, and that of the headline, by an encoder of random vectors."""
        found, headline = self.measured(load_encoder("random,dim=8"), Draws(self.draws.seed, 2))
        return tuple(found), headline

    def measured(self, encoder: Encoder, draws: Draws | None = None) -> tuple[Mapping[str, float | None], str]:
        """Return the figures of an encoder by name, None where undefined, and the name of the headline.

        Raises
        ------
        EncoderError
            If the encoder fails.
        """
        draws = draws or self.draws
        request = RunRequest(
            [encoder],
            [self.corpus],
            [self.diagnostic],
            seed=draws.seed,
            resamples=draws.resamples,
            baselines=False,
            quiet=True,
        )
        outcome = execute(prepare(request), workers=1)
        outcome.check()
        return _figures(outcome.result)


def _sets_side_by_side(diagnostic: str) -> bool:
    name = diagnostic.partition(",")[0]
    return name in DIAGNOSTICS.names() and hasattr(DIAGNOSTICS.module(name).create(), "join")


def _figures(result: Result) -> tuple[dict[str, float | None], str]:
    verdict = result.verdicts[0] if result.verdicts else None
    rows = [row for row in result.rows if row.encoder]
    if not rows:
        raise SpecError("the diagnostic has no figure of an encoder on this corpus")
    wanted = verdict and (verdict.quantity, verdict.subset, verdict.measure, verdict.condition)
    headline = next((row for row in rows if _place(row) == wanted), rows[0])
    return {_name(row, headline): row.value for row in rows}, _name(headline, headline)


def _place(of: Row | Verdict) -> tuple[str, str, str, str]:
    return of.quantity, of.subset, of.measure, of.condition


def _name(row: Row, headline: Row) -> str:
    """Return quantity, subset, condition and measure as one word; what goes without saying is left out."""
    subset = "" if row.subset == "all" else row.subset
    measure = "" if row.measure == headline.measure else row.measure
    return "_".join(part.replace(":", "_") for part in (row.quantity, subset, row.condition, measure) if part)
