"""``embassay run``: its options, and the request that they make."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

FINE = 0
Flag = Parameter(negative="")
Repeated = Parameter(consume_multiple=False, negative="")


@dataclass(frozen=True)
class RunOptions:
    """Options of ``embassay run`` that say how it is done. None leaves it to the config file, or to the default.

    Attributes
    ----------
    profile
        Which diagnostics run without -d: default, search, dedup, classification or research; see 'embassay list'.
    seed
        Seed for all random numbers; 0 by default.
    resamples
        Number of bootstrap resamples; 1000 by default. Affects intervals, not p-values (9,999 sign flips or more).
    limit
        Keep at most N randomly chosen units (groups of dependent items) of each corpus.
    reference
        Label of the encoder that the others are compared with; the first -e by default.
    device
        Device of neural encoders: auto (default), cpu, cuda, cuda:1 or mps; several share the work: cuda:0,cuda:1.
    backend
        How neural encoders run: auto (default), light, torch or sentence-transformers.
    dry_run
        Print what would be encoded, and stop.
    no_baselines
        Leave out the baselines tfidf, random and, for retrieval, bm25.
    examples
        Show N items of each diagnostic and corpus with their texts, or all; 100 by default, drawn with the seed.
    no_texts
        Write no sentence of a corpus into result and report.
    no_trust
        Do not check how far vectors depend on the batch, on half precision and on the wording of prompts.
    cost
        Measure how long local models take for the same 64 texts; by default where there are two models or more.
    follow_links
        Follow symbolic links in the folder of a corpus; by default they are skipped.
    cache
        Folder of the vector cache.
    no_cache
        Do not use the vector cache.
    overwrite
        Replace the run in the folder.
    quiet
        Print only the result.
    trust_remote_code
        Label of an encoder that may run code from its repository, repeatable.
    """

    profile: str | None = None
    seed: int | None = None
    resamples: int | None = None
    limit: int | None = None
    reference: str | None = None
    device: str | None = None
    backend: str | None = None
    dry_run: Annotated[bool, Flag] = False
    no_baselines: Annotated[bool, Flag] = False
    examples: int | Literal["all"] | None = None
    no_texts: Annotated[bool, Flag] = False
    no_trust: Annotated[bool, Flag] = False
    cost: Annotated[bool | None, Parameter(negative="--no-cost")] = None
    follow_links: Annotated[bool, Flag] = False
    cache: Path | None = None
    no_cache: Annotated[bool, Flag] = False
    overwrite: Annotated[bool, Flag] = False
    quiet: Annotated[bool, Flag] = False
    trust_remote_code: Annotated[tuple[str, ...], Repeated] = ()

    def settings(self) -> dict[str, object]:
        """Return the arguments of ``RunRequest.of``; None leaves a setting to the config file, or to the default.

        An option such as ``--no-texts`` only ever switches something off: it is False or None, never True. ``cache``,
        ``follow_links``, ``overwrite`` and ``quiet`` are always set, because a config file cannot hold them.
        """
        cache: Path | Literal["default"] | None = "default"
        if self.no_cache:
            # For the cache, None means that there is none: it is the default of ``RunRequest``.
            cache = None
        elif self.cache is not None:
            cache = self.cache
        return {
            "profile": self.profile,
            "seed": self.seed,
            "resamples": self.resamples,
            "limit": self.limit,
            "reference": self.reference,
            "device": self.device,
            "backend": self.backend,
            "baselines": _off(self.no_baselines),
            "examples": self.examples,
            "texts": _off(self.no_texts),
            "robustness": _off(self.no_trust),
            "cost": self.cost,
            "follow_links": self.follow_links,
            "cache": cache,
            "overwrite": self.overwrite,
            "quiet": self.quiet,
            "trusted": list(self.trust_remote_code),
        }


def _off(switched_off: bool) -> Literal[False] | None:
    """Return False if something is switched off, and None if nothing is said about it."""
    if switched_off:
        return False
    return None


DEFAULTS = RunOptions()


def run(
    config: Path | None = None,
    *,
    encoder: Annotated[list[str], Parameter(name=("-e", "--encoder")), Repeated] = [],  # noqa: B006
    corpus: Annotated[list[str], Parameter(name=("-c", "--corpus")), Repeated] = [],  # noqa: B006
    diagnostic: Annotated[list[str], Parameter(name=("-d", "--diagnostic")), Repeated] = [],  # noqa: B006
    out: Annotated[Path | None, Parameter(name=("-o", "--out"))] = None,
    add: Annotated[bool, Flag] = False,
    options: Annotated[RunOptions, Parameter(name="*", negative="")] = DEFAULTS,
) -> int:
    """Assay encoders on corpora: a scorecard and findings in the terminal, all figures in an HTML report.

    Parameters
    ----------
    config
        TOML file with encoders, corpora, diagnostics and settings (docs/guide.md); command-line options override it.
    encoder
        [NAME=]SPEC[,option=value…], repeatable; default: all-MiniLM-L6-v2 if its weights are on this machine.
    corpus
        [NAME=]SOURCE[,option=value…], repeatable; the built-in corpora by default.
    diagnostic
        DIAGNOSTIC[,option=value…], repeatable; by default those of the profile that fit the corpora.
    out
        Run folder; embassay-run by default. A run with the same settings is continued.
    add
        Add the encoders to the finished run in the folder, without running its existing encoders again.
    """
    started = time.perf_counter()
    from embassay.run.command import carry_out
    from embassay.run.request import RunRequest

    request = RunRequest.of(
        config, encoders=encoder, corpora=corpus, diagnostics=diagnostic, out=out, **options.settings()
    )
    if add:
        if options.dry_run:
            from embassay.errors import SpecError

            raise SpecError("--dry-run cannot be combined with --add; leave out --add to see what would be encoded")
        from embassay.comparison.adding import add_encoders

        return add_encoders(request)
    if not options.dry_run:
        return carry_out(request, started)
    from embassay.cli.look import show

    show(request, default=True)
    return FINE
