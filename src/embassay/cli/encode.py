"""``embassay encode``: vectors of files that are larger than memory, in shards."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from embassay.cli.parameters import FINE, WRONG_INPUT, Flat, Out
from embassay.run.sharding.options import EncodeOptions

DEFAULTS = EncodeOptions()
MAX_SHOWN = 5
"""Damaged shards that are named."""


def encode(
    *,
    encoder: Annotated[str, Parameter(name=("-e", "--encoder"))] = "",
    texts: Annotated[list[str], Parameter(consume_multiple=True, negative="")] = [],  # noqa: B006
    out: Out | None = None,
    shard: int = 100_000,
    shards: str = "",
    options: Annotated[EncodeOptions, Flat] = DEFAULTS,
    verify: Path | None = None,
) -> int:
    """Encode files of texts into a folder of vectors in shards; repeat the command to continue.

    Parameters
    ----------
    encoder
        SPEC[,option=value…].
    texts
        Files or patterns: JSON lines (.jsonl) or Parquet.
    out
        Folder for the shards.
    shard
        Maximum rows per shard.
    shards
        Make only shards A to B-1, as A:B; several commands may fill one folder at the same time.
    verify
        Check the files of this shard folder against their recorded hashes; nothing is encoded.
    """
    from embassay.core.errors import SpecError, say
    from embassay.core.formatting import counted
    from embassay.core.store.paths import output_path
    from embassay.run.sharding.encode import encode_corpus
    from embassay.run.sharding.request import EncodeRequest

    if verify is not None:
        return _verify(verify)
    for flag, value in (("-e", encoder), ("--texts", texts), ("-o", out)):
        if not value:
            raise SpecError(f"{flag} is missing; see 'embassay encode --help'")
    request = EncodeRequest(
        encoder,
        texts,
        output_path(out or Path()),
        shard_rows=shard,
        shards=_range(shards) if shards else None,
        **vars(options),
    )
    encoded = encode_corpus(request, tell=say)
    repeated = ""
    if encoded.repeated:
        repeated = f"; texts that repeat within their shard: {encoded.repeated:,}"
    made = f"{encoded.made:,} of {counted(encoded.shards, 'shard')}"
    say(f"encoded {counted(encoded.encoded, 'text')} now, in {made}{repeated}")
    if encoded.encoded_again:
        say(f"texts that repeat across shards and are encoded for each of them: {encoded.encoded_again:,}")
    if options.dtype != "float32":
        say(
            f"{options.dtype}: lowest cosine with the float32 vectors {encoded.lowest_cosine:.6f}, "
            f"largest error of a coordinate {encoded.largest_error:.2g} of the vector's length"
        )
    selected = f" in shards {shards}" if shards else ""
    say(f"vectors: {encoded.folder} ({encoded.rows:,} x {encoded.dim:,}{selected})")
    return FINE


def _range(shards: str) -> tuple[int, int]:
    """Return the numbers of a range A:B."""
    from embassay.core.errors import SpecError, quoted

    numbers = re.fullmatch(r"([0-9]{1,100}):([0-9]{1,100})", shards)
    if not numbers:
        raise SpecError(f"--shards must be two whole numbers as A:B, is {quoted(shards)}")
    return int(numbers[1]), int(numbers[2])


def _verify(path: Path) -> int:
    """Read a folder of shards, and say what is wrong with it."""
    from embassay.core.errors import say
    from embassay.core.formatting import counted
    from embassay.core.shards.shards import read_folder
    from embassay.run.sharding.encode import verify

    manifest, problems = verify(read_folder(path))
    for plan, problem in problems[:MAX_SHOWN]:
        say(f"shard {plan.name}: {problem}")
    if problems:
        shards = counted(len(manifest.shards), "shard")
        say(f"{len(problems):,} of {shards} missing or damaged; encode again to make them")
        return WRONG_INPUT
    say(f"{path}: {counted(manifest.rows, 'text')} in {counted(len(manifest.shards), 'shard')}, all complete")
    return FINE
