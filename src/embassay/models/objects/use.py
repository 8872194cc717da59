"""Universal Sentence Encoder through the package tensorflow_hub, where it is installed: ``use:./FOLDER``.

Cer et al. (2018), "Universal Sentence Encoder".
"""

from __future__ import annotations

from embassay.core.errors import SourceError
from embassay.core.store.paths import source_path
from embassay.core.types import Runtime
from embassay.models.objects.packages import PackageEncoder, require

TARGET = "FOLDER"
PACKAGE = "tensorflow_hub"


def create(target: str, runtime: Runtime) -> PackageEncoder:
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
    require(PACKAGE, "tensorflow tensorflow_hub", f"encoder 'use:{target}'")
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    return PackageEncoder(
        folder.name, f"use:{target}", PACKAGE, lambda: runtime.hashes(folder, names), lambda hub: hub.load(str(folder))
    )
