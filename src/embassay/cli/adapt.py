"""``embassay adapt``: the command line of domain adaptation, and what it prints."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

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
    from embassay.run.progress import Bar
    from embassay.training.adapt import Adaptation, AdaptRequest

    request = AdaptRequest(
        base,
        corpus,
        output_path(out),
        options,
        general=general,
        overwrite=overwrite,
        cache="default" if cache is None else output_path(cache),
        quiet=quiet,
    )
    # The verdict is printed also with --quiet.
    if not quiet:
        request = replace(request, say=say, training=Bar().training)
    adaptation = Adaptation.prepare(request)
    if dry_run:
        for line in adaptation.summary():
            print(line)  # noqa: T201
        return FINE
    adapted = adaptation.carry_out()
    # The verdict goes to standard output, as the tables of a run; where things lie goes to standard error.
    for line in (*adapted.verdict, "", adapted.figures):
        print(line)  # noqa: T201
    # Without texts no corpus of the held-out questions was written, and the command has the models only.
    named = zip(general, adaptation.general, strict=False)
    questions = [source for source, loaded in named if loaded.shape == "retrieval"]
    parts = [f"-c {shlex.quote(source)}" for source in (*adapted.held_out, *questions)]
    parts += [f"-e {shlex.quote(f'{label}={spec}')}" for label, spec in adapted.models.items()]
    parts.append(f"-d retrieval,transforms=all,paper=true --seed {options.seed} --resamples {options.resamples} -o RUN")
    request.say("the same models on the held-out questions, with transforms; add any other encoder with -e:")
    # A part on each line, so that no line is wrapped and the whole can be copied.
    for line in ("embassay run", *parts[:-1]):
        request.say(f"  {line} \\")
    request.say(f"  {parts[-1]}")
    request.say(f"report: {request.out / 'run' / 'report.html'}")
    request.say(f"verdict: {request.out / 'verdict.md'}")
    return FINE
