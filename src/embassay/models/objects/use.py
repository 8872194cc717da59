"""Universal Sentence Encoder through the package tensorflow_hub, where it is installed: ``use:./FOLDER``.

Cer et al. (2018), "Universal Sentence Encoder".
"""

from __future__ import annotations

from embassay.core.errors import SourceError
from embassay.core.store.paths import source_path
from embassay.core.types import Runtime
from embassay.models.objects.calls import CallEncoder, of_package

TARGET = "FOLDER"


def create(target: str, runtime: Runtime) -> CallEncoder:
    """Check the folder; the model is loaded when the first text is encoded.

    Parameters
    ----------
    target
        A folder with a saved model for TensorFlow 2, such as universal-sentence-encoder/4.

    Raises
    ------
    SourceError
        If there is no such folder.
    SpecError
        If the package is not installed.
    """
    folder = source_path(target)
    if not folder.is_dir():
        raise SourceError("no such folder; give the folder of a TensorFlow SavedModel", target)

    def content() -> object:
        return runtime.hashes(folder, [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()])

    return of_package(
        folder.name,
        f"use:{target}",
        "tensorflow_hub",
        "tensorflow tensorflow_hub",
        content,
        lambda package: package.load(str(folder)),
    )
