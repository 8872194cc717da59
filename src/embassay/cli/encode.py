"""``embassay encode``: vectors of files that are larger than memory, in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from embassay.cli.parameters import FINE, Flat, OneEncoder, Out
from embassay.run.encode_options import EncodeOptions

DEFAULTS = EncodeOptions()


def encode(
    *,
    encoder: OneEncoder,
    texts: Annotated[list[Path], Parameter(consume_multiple=True, negative="")],
    out: Out,
    options: Annotated[EncodeOptions, Flat] = DEFAULTS,
) -> int:
    """Encode Parquet files of texts into a folder of vectors; repeat the command to continue.

    Parameters
    ----------
    encoder
        SPEC[,option=value…].
    texts
        Parquet files with ids and texts.
    out
        Folder for the vectors, in parts: Parquet files of up to 10,000 rows.
    """
    from embassay.core.errors import say
    from embassay.core.formatting import counted
    from embassay.core.store.paths import output_path
    from embassay.run.encode_texts import encode_texts

    encoded = encode_texts(encoder, texts, output_path(out), options, tell=say)
    say(f"vectors: {encoded.folder} ({encoded.rows:,} x {encoded.dim:,}, {counted(encoded.parts, 'part')})")
    return FINE
