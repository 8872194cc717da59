"""``embassay export``: export a model to a lighter runtime and compare it with the original."""

from __future__ import annotations

import shlex
from typing import Literal

from embassay.cli.parameters import FINE, Corpora, Flag, Out
from embassay.errors import say

Target = Literal["onnx", "openvino"]


def export(
    encoder: str,
    *,
    out: Out,
    to: Target,
    int8: Flag = False,
    corpus: Corpora = [],  # noqa: B006
    overwrite: Flag = False,
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
    from embassay.export.exporting import make

    done = make(encoder, out, to, int8=int8, corpora=corpus, overwrite=overwrite)
    for line in done.fidelity.sentences():
        print(line)  # noqa: T201
    say(f"model: {done.folder}", f"assay it with: embassay run -e {shlex.quote(done.spec)}")
    return FINE
