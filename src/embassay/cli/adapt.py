"""``embassay adapt``: the command line of domain adaptation, and what it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from embassay.cli.parameters import FINE, Corpora, Flag, Flat, Out, Several
from embassay.core.errors import say
from embassay.core.store.paths import output_path
from embassay.training.options import AdaptOptions

DEFAULTS = AdaptOptions()


def adapt(
    base: str,
    *,
    corpus: Corpora,
    out: Out,
    options: Annotated[AdaptOptions, Flat] = DEFAULTS,
    general: Several = [],  # noqa: B006
    cache: Path | None = None,
    dry_run: Flag = False,
    overwrite: Flag = False,
    quiet: Flag = False,
) -> int:
    """Adapt a model to a domain, and measure the gain on held-out questions and the loss on other corpora.

    Parameters
    ----------
    base
        A sentence-transformers model by name, or ./FOLDER, with [,option=value…]: query_prompt, document_prompt,
        text_prompt, max_length, similarity; they apply to training and assay and are stored in every variant.
    corpus
        [NAME=]SOURCE[,option=value…] of questions and documents, repeatable: trained on together, tested one by one.
    out
        Folder for the variants, their run and the verdict; an interrupted adaptation is continued.
    general
        [NAME=]SOURCE of general corpora, to measure the loss, repeatable; built-in corpora for the shapes not given.
    cache
        Folder of the vector cache.
    dry_run
        Check everything, print what was found, and stop.
    overwrite
        Replace a different adaptation in the folder.
    quiet
        Print only the verdict and its figures.
    """
    from embassay.run.progress import progress
    from embassay.training.adapt import Adaptation, AdaptRequest

    settings: dict[str, Any] = {"general": general, "overwrite": overwrite, "quiet": quiet}
    if cache is not None:
        settings["cache"] = output_path(cache)
    # The verdict is printed also with --quiet.
    if not quiet:
        settings |= {"say": say, "training": progress}
    request = AdaptRequest(base, corpus, output_path(out), options, **settings)
    adaptation = Adaptation.prepare(request)
    if dry_run:
        for line in adaptation.summary():
            print(line)  # noqa: T201
        return FINE
    adapted = adaptation.carry_out()
    # The verdict goes to standard output, as the tables of a run; where things lie goes to standard error.
    for line in (*adapted.verdict, "", adapted.figures):
        print(line)  # noqa: T201
    request.say(f"report: {request.out / 'run' / 'report.html'}")
    request.say(f"verdict: {request.out / 'verdict.md'}")
    return FINE
