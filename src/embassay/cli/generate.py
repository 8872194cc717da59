"""``embassay build composition`` and ``retrieval``: test sets from documents; questions need a generator."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from embassay.cli.build import FINE, Flag, Flat, From, Out, build, given_options, run_build
from embassay.errors import SpecError, say
from embassay.store.paths import source_path
from embassay.testsets.options import Language, Shared

__all__ = ["build"]
PROMPT_LINES = 40
"""Lines of a prompt that a dry run prints, at most."""


@dataclass(frozen=True, kw_only=True)
class DocumentOptions(Shared):
    """Options of the kinds that are built from documents.

    Attributes
    ----------
    licence
        What you may do with the documents, for the data card.
    id
        The table's column of ids.
    text
        The table's column of texts.
    follow_links
        Read what symbolic links in the folder lead to; they are left out otherwise.
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
        MODEL[,option=value…] of a chat service that fuses sentences; fused by rules otherwise.
    prompt
        File with what the generator is told, with {first} and {second}.
    filters
        SPEC of an encoder that differences are chosen by; may be given several times, all must agree.
    filter
        What has to be far apart: bd, the second sentence and the difference; neighbours, the sentences that were fused.
    below
        The cosine that it has to be under.
    per_document
        How often three sentences are taken from a document, at most.
    count
        How many documents; all by default.
    language
        any builds from documents that do not look English.
    """

    filters: Annotated[tuple[str, ...], Parameter(name=("-e", "--encoder"))] = ()
    filter: Literal["bd", "neighbours"] = "bd"
    below: float = 0.25
    per_document: int = 1
    language: Language = "en"


@dataclass(frozen=True, kw_only=True)
class RetrievalOptions(DocumentOptions):
    """Options of questions.

    Attributes
    ----------
    generator
        Needed: MODEL[,option=value…] of the chat service that asks the questions.
    prompt
        File with what the generator is told, with {passage}.
    passages
        What a document is cut into: document, paragraph, sentence, or a number of words.
    per_passage
        Questions that the generator is asked for, of each passage.
    unanswerable
        Share of the units (documents, articles) that are taken away, their questions kept; 0 for none.
    test
        Share of the units whose questions are for testing; 1 for all.
    leak
        Share of a question's words that stand in one run in its passage, from which on it is left out.
    count
        How many questions; all by default.
    """

    passages: str = "paragraph"
    per_passage: int = 1
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
    """Build overlaps, differences and unions of sentences, as Bansal et al. (2025) did.

    Parameters
    ----------
    source
        Folder of .txt, .md, .rst and .html files, a table with a column of texts, a file in SQuAD's form, or one text.
    out
        File to write; its data card and sheet are written beside it.
    dry_run
        Say what the generator would be asked and what it would cost, and end.
    overwrite
        Replace files that are there.
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
        Folder of .txt, .md, .rst and .html files, a table with a column of texts, a file in SQuAD's form, or one text.
    out
        File to write; its data card and sheet are written beside it.
    dry_run
        Say what the generator would be asked and what it would cost, and end.
    overwrite
        Replace files that are there.
    """
    if not options.generator:
        raise SpecError(
            "questions are asked by a chat model: add --generator MODEL, for example --generator gpt-4o-mini, "
            "or for a service of your own --generator qwen3,base_url=http://localhost:8000/v1,key_env="
        )
    return _generate("retrieval", source, out, options, dry_run, overwrite)


def _generate(kind: str, source: Path, out: Path, options: DocumentOptions, dry_run: bool, overwrite: bool) -> int:
    """Build, or print what would be asked."""
    given = given_options(options)
    if options.prompt is not None:
        from embassay.testsets.generator.base import read_prompt

        given["prompt"] = read_prompt(source_path(options.prompt))
    if not dry_run:
        return run_build(kind, source, out, overwrite, given)
    given.pop("licence", None)
    given.pop("generator", None)
    return _estimate(kind, source, options.generator, out, given)


def _estimate(kind: str, source: Path, generator: str, out: Path, options: dict[str, Any]) -> int:
    """Print what a generator would be asked, and what it would cost; nothing is sent."""
    from embassay.api import estimate

    estimated = estimate(kind, source, generator, out, **options)
    if not estimated.requests:
        say(f"{source}: there is nothing to ask about")
        return FINE
    prompt = estimated.requests[0].prompt.splitlines()
    say("the first request:", *(f"    {line}" for line in prompt[:PROMPT_LINES]))
    if len(prompt) > PROMPT_LINES:
        say("    …")
    cost = "" if estimated.cost is None else f", about {estimated.cost:,.4g} at the price given"
    number = f"{len(estimated.requests):,} to {estimated.generator}"
    say(f"requests: {number}, about {estimated.tokens:,} tokens{cost}")
    return FINE
