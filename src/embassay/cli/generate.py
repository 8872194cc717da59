"""``embassay build composition`` and ``retrieval``: test sets from documents; questions need a generator."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from embassay.cli.build import FINE, From, Language, Out, Overwrite, build, run_build, say
from embassay.errors import SourceError, SpecError
from embassay.store.paths import source_path

__all__ = ["build"]
Id = Annotated[str, Parameter(name="--id")]
DryRun = Annotated[bool, Parameter(negative="")]
FollowLinks = Annotated[bool, Parameter(negative="")]
Prompt = Path | None
TOLD = 40
"""Lines of a prompt that a dry run shows, at most."""


@build.command(name="composition")
def build_composition(
    *,
    source: From,
    out: Out,
    generator: str = "",
    prompt: Prompt = None,
    filters: Annotated[tuple[str, ...], Parameter(name=("-e", "--encoder"))] = (),
    filter: Literal["bd", "neighbours"] = "bd",  # noqa: A002 - the option's name
    below: float = 0.25,
    per_document: int = 1,
    id_: Id = "",
    text: str = "",
    count: int | None = None,
    seed: int = 0,
    licence: str = "",
    language: Language = "en",
    follow_links: FollowLinks = False,
    dry_run: DryRun = False,
    overwrite: Overwrite = False,
) -> int:
    """Build overlaps, differences and unions of sentences, as Bansal et al. (2025) did.

    Parameters
    ----------
    source
        Folder of .txt, .md, .rst and .html files, a table with a column of texts, a file in SQuAD's form, or one text.
    out
        File to write; its data card and sheet are written beside it.
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
    id_
        The table's column of ids.
    text
        The table's column of texts.
    count
        How many documents; all by default.
    seed
        Of every random draw.
    licence
        What you may do with the documents, for the data card.
    language
        any builds from documents that do not look English.
    follow_links
        Read what symbolic links in the folder lead to; they are left out otherwise.
    dry_run
        Say what the generator would be asked and what it would cost, and end.
    overwrite
        Replace files that are there.
    """
    documents: dict[str, Any] = {"id": id_, "text": text, "follow_links": follow_links or None}
    documents |= {"count": count, "seed": seed, "licence": licence, "language": language}
    how = {"filters": filters, "filter": filter, "below": below, "per_document": per_document}
    return _generate("composition", source, out, generator, prompt, dry_run, overwrite, **documents, **how)


@build.command(name="retrieval")
def build_retrieval(
    *,
    source: From,
    out: Out,
    generator: str = "",
    prompt: Prompt = None,
    passages: str = "paragraph",
    per_passage: int = 1,
    unanswerable: float = 0.1,
    test: float = 0.2,
    leak: float = 0.6,
    id_: Id = "",
    text: str = "",
    count: int | None = None,
    seed: int = 0,
    licence: str = "",
    follow_links: FollowLinks = False,
    dry_run: DryRun = False,
    overwrite: Overwrite = False,
) -> int:
    """Build questions about documents, and the passages that answer them.

    Parameters
    ----------
    source
        Folder of .txt, .md, .rst and .html files, a table with a column of texts, a file in SQuAD's form, or one text.
    out
        File to write; its data card and sheet are written beside it.
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
    id_
        The table's column of ids.
    text
        The table's column of texts.
    count
        How many questions; all by default.
    seed
        Of every random draw.
    licence
        What you may do with the documents, for the data card.
    follow_links
        Read what symbolic links in the folder lead to; they are left out otherwise.
    dry_run
        Say what the generator would be asked and what it would cost, and end.
    overwrite
        Replace files that are there.
    """
    if not generator:
        raise SpecError(
            "questions are asked by a chat model: add --generator MODEL, for example --generator gpt-4o-mini, "
            "or for a service of your own --generator qwen3,base_url=http://localhost:8000/v1,key_env="
        )
    documents: dict[str, Any] = {"id": id_, "text": text, "follow_links": follow_links or None}
    documents |= {"count": count, "seed": seed, "licence": licence}
    how = {"passages": passages, "per_passage": per_passage, "unanswerable": unanswerable, "test": test, "leak": leak}
    return _generate("retrieval", source, out, generator, prompt, dry_run, overwrite, **documents, **how)


def _generate(
    kind: str,
    source: Path,
    out: Path,
    generator: str,
    prompt: Prompt,
    dry_run: bool,
    overwrite: bool,
    **options: Any,
) -> int:
    """Build, or say what would be asked."""
    told = {"prompt": _read(prompt)} if prompt is not None else {}
    if dry_run:
        options.pop("licence")
        return _estimate(kind, source, generator, out, **told, **options)
    return run_build(kind, source, out, overwrite, generator=generator, **told, **options)


def _estimate(kind: str, source: Path, generator: str, out: Path, **options: Any) -> int:
    """Say what a generator would be asked, and what it would cost; nothing is sent."""
    from embassay.api import estimate

    given = {name: value for name, value in options.items() if value not in ("", None, ())}
    found = estimate(kind, source, generator, out, **given)
    if not found.requests:
        say(f"{source}: there is nothing to ask about")
        return FINE
    first = found.requests[0].prompt.splitlines()
    say("the first request:", *(f"    {line}" for line in first[:TOLD]), *(["    …"] if len(first) > TOLD else []))
    cost = "" if found.cost is None else f", about {found.cost:,.4g} at the price given"
    say(f"requests: {len(found.requests):,} to {found.generator}, about {found.tokens:,} tokens{cost}")
    return FINE


def _read(prompt: Path) -> str:
    from embassay.corpora.io.texts import read_text

    text = read_text(source_path(prompt))
    if not text.strip():
        raise SourceError("no prompt in it; write what the generator is to do", prompt)
    return text
