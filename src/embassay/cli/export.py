"""``embassay export``: export a model to a lighter runtime and compare it with the original."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from embassay.errors import say

FINE = 0
Target = Literal["onnx", "openvino"]


def export(
    encoder: str,
    *,
    out: Annotated[Path, Parameter(name=("-o", "--out"))],
    to: Target,
    int8: Annotated[bool, Parameter(negative="")] = False,
    corpus: Annotated[
        list[str], Parameter(name=("-c", "--corpus")), Parameter(consume_multiple=False, negative="")
    ] = [],  # noqa: B006
    overwrite: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Export a model to ONNX or OpenVINO, and compare it with the original.

    Parameters
    ----------
    encoder
        SPEC[,option=value…] of a sentence-transformers model.
    out
        Folder to write.
    to
        onnx or openvino.
    int8
        Store the weights in 8 bits: a quarter of the size, but different vectors.
    corpus
        [NAME=]SOURCE[,option=value…] with the texts for the comparison, repeatable; the built-in corpora by default.
    overwrite
        Replace an exported model in the folder.
    """
    from embassay.export.making import make

    done = make(encoder, out, to, int8=int8, corpora=corpus, overwrite=overwrite)
    for line in done.fidelity.sentences():
        print(line)  # noqa: T201
    say(f"model: {done.folder}", f"assay it with: embassay run -e {shlex.quote(done.spec)}")
    return FINE
