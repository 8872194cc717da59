"""``embassay build composition`` and ``retrieval``: test sets from documents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from embassay.cli.build import From, build, given_options, run_build
from embassay.cli.parameters import FINE, Flag, Flat, Out
from embassay.core.errors import SpecError, say
from embassay.core.store.paths import source_path
from embassay.testsets.options import Language, Shared

# Importing this module adds its two commands to "build", so the command line imports that from here.
__all__ = ["build"]
PROMPT_LINES = 40
"""Lines of a prompt that a dry run prints, at most."""


@dataclass(frozen=True, kw_only=True)
class DocumentOptions(Shared):
    """Options of the kinds that are built from documents.

    Attributes
    ----------
    licence
        Licence of the documents, for the data card.
    id
        Column of ids, for a table.
    text
        Column of texts, for a table.
    follow_links
        Follow symbolic links in the folder; by default they are skipped.
    """

    generator: str = ""
    prompt: Path | None = None
    id: str = ""
    text: str = ""
    follow_links: Flag = False


@dataclass(frozen=True, kw_only=True)
class CompositionOptions(DocumentOptions):
    """Options of compositions.

    Attributes
    ----------
    generator
        MODEL[,option=value…] of a chat service that fuses sentences, as in the paper; without it, rules stand in.
    prompt
        File with the prompt, which contains {first} and {second}.
    filters
        SPEC of an encoder that selects differences, repeatable; all must agree.
    filter
        What must be dissimilar: bd, the second sentence and the difference; neighbours, the fused sentences.
    below
        Their cosine must be below this.
    keep_all
        Use every sentence and every answer of the generator, also those that look wrong.
    count
        Maximum number of documents; all by default.
    language
        With any, documents that do not look English are used too.
    """

    filters: Annotated[tuple[str, ...], Parameter(name=("-e", "--encoder"))] = ()
    filter: Literal["bd", "neighbours"] = "bd"
    below: float = 0.25
    keep_all: Flag = False
    language: Language = "en"


@dataclass(frozen=True, kw_only=True)
class RetrievalOptions(DocumentOptions):
    """Options of questions.

    Attributes
    ----------
    method
        How questions are made. generator: a chat model writes them (default with --generator). headings: a heading is
        the query for its section. cloze: a sentence taken out of its passage is the query for the rest.
    generator
        MODEL[,option=value…] of the chat service that writes the questions.
    prompt
        File with the prompt, which contains {passage}.
    passages
        How documents are split: document, paragraph, sentence, or a number of words.
    unanswerable
        Share of the units (documents, articles) that are removed while their questions are kept; 0 for none.
    test
        Share of the units whose questions form the test part; 1 for all.
    leak
        A question is left out if at least this share of its content words is one contiguous run in its passage.
    count
        Maximum number of questions; all by default.
    """

    method: Literal["headings", "cloze", "generator"] | None = None
    passages: str = "paragraph"
    unanswerable: float = 0.1
    test: float = 0.2
    leak: float = 0.6


@build.command(name="composition")
def build_composition(
    *,
    source: From,
    out: Out,
    options: Annotated[CompositionOptions, Flat] = CompositionOptions(),
    dry_run: Flag = False,
    overwrite: Flag = False,
) -> int:
    """Build overlaps, differences and unions of sentences, in the way of Bansal et al. (2025).

    Parameters
    ----------
    source
        Folder of .txt, .md, .rst, .html and .story files, a table with a column of texts, a SQuAD file, or one text.
    out
        File to write; its data card and sheet are written next to it.
    dry_run
        Print the first request and the estimated cost, and stop.
    overwrite
        Replace existing files.
    """
    return _generate("composition", source, out, options, dry_run, overwrite)


@build.command(name="retrieval")
def build_retrieval(
    *,
    source: From,
    out: Out,
    options: Annotated[RetrievalOptions, Flat] = RetrievalOptions(),
    dry_run: Flag = False,
    overwrite: Flag = False,
) -> int:
    """Build questions about documents, and the passages that answer them.

    Parameters
    ----------
    source
        Folder of .txt, .md, .rst, .html and .story files, a table with a column of texts, a SQuAD file, or one text.
    out
        File to write; its data card and sheet are written next to it.
    dry_run
        Print the first request and the estimated cost, and stop.
    overwrite
        Replace existing files.
    """
    # Without --method a chat model writes the questions.
    if options.method in ("headings", "cloze"):
        if dry_run:
            raise SpecError(f"--dry-run estimates the cost of a generator; --method {options.method} needs none")
        if options.generator:
            raise SpecError(f"--generator cannot be used with --method {options.method}, which needs none")
    elif not options.generator:
        raise SpecError(
            "a chat model writes the questions: add --generator MODEL, for example --generator gpt-4o-mini, "
            "or, for your own service, --generator qwen3,base_url=http://localhost:8000/v1,key_env=; "
            "or make queries from the documents: --method headings or --method cloze"
        )
    return _generate("retrieval", source, out, options, dry_run, overwrite)


def _generate(kind: str, source: Path, out: Path, options: DocumentOptions, dry_run: bool, overwrite: bool) -> int:
    """Build a test set from documents; with ``dry_run`` only print what a generator would be asked."""
    builder_options = given_options(options)
    if options.prompt is not None:
        from embassay.testsets.generator.base import read_prompt

        # The command takes a file, the builder its text.
        builder_options["prompt"] = read_prompt(source_path(options.prompt))
    if not dry_run:
        return run_build(kind, source, out, overwrite, builder_options)
    # An estimate writes no data card, which the licence is for. The generator is an argument of its own there.
    builder_options.pop("licence", None)
    builder_options.pop("generator", None)
    return _estimate(kind, source, options.generator, out, builder_options)


def _estimate(kind: str, source: Path, generator: str, out: Path, options: dict[str, Any]) -> int:
    """Print what a generator would be asked, and what it would cost; nothing is sent."""
    from embassay.api import estimate

    estimated = estimate(kind, source, generator, out, **options)
    if not estimated.requests:
        say(f"{source}: contains nothing to ask about")
        return FINE
    say("the first request:")
    lines = estimated.requests[0].prompt.splitlines()
    for line in lines[:PROMPT_LINES]:
        say(f"    {line}")
    if len(lines) > PROMPT_LINES:
        say("    …")
    total = f"requests: {len(estimated.requests):,} to {estimated.generator}, about {estimated.tokens:,} tokens"
    if estimated.cost is not None:
        total += f", about {estimated.cost:,.4g} at the given price"
    say(total)
    return FINE
