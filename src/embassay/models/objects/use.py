"""Universal Sentence Encoder through the package tensorflow_hub, where it is installed: ``use:./FOLDER``.

Cer et al. (2018), "Universal Sentence Encoder". The package downloads a model of tfhub.dev when it is first needed.
"""

from __future__ import annotations

from embassay.core.errors import SourceError
from embassay.core.store.paths import source_path
from embassay.core.types import Runtime, hashes_of
from embassay.models.neural.model_files import folder_files
from embassay.models.objects.calls import CallEncoder, of_package

TARGET = "FOLDER or https://tfhub.dev/…"
HUB = "https://tfhub.dev/"


def create(target: str, runtime: Runtime) -> CallEncoder:
    """Check the folder; the model is loaded when the first text is encoded.

    Parameters
    ----------
    target
        A folder with a saved model for TensorFlow 2, such as universal-sentence-encoder/4, or its address on tfhub.dev.

    Raises
    ------
    SourceError
        If there is no such folder.
    SpecError
        If the package is not installed.
    """
    install = "tensorflow tensorflow_hub"
    if target.startswith(HUB):
        # An address ends in the version of the model, so it identifies it.
        return of_package(
            target.removeprefix(HUB), f"use:{target}", install, lambda: target, lambda hub: hub.load(target)
        )
    folder = source_path(target)
    if not folder.is_dir():
        raise SourceError("no such folder; give the folder of a TensorFlow SavedModel", target)
    return of_package(
        folder.name,
        f"use:{target}",
        install,
        lambda: hashes_of(folder, folder_files(folder)),
        lambda hub: hub.load(str(folder)),
    )
