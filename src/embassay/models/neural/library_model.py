"""Models that only sentence-transformers runs, a ``CrossEncoder`` or a ``SparseEncoder``: found, checked and loaded."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from embassay.core.types import Runtime, content_hash
from embassay.models.checks import check_whole
from embassay.models.loaded import LazyModel
from embassay.models.neural.devices import available_device, check_place
from embassay.models.neural.encoder import check_code, check_no_adapter
from embassay.models.neural.hf_loading import check_stored
from embassay.models.neural.library_messages import quiet, reason
from embassay.models.neural.locations import find
from embassay.models.neural.model_files import folder_files
from embassay.models.neural.modules import check_tokenizer, modules, own_code, own_modules

DTYPE = "float32"


@dataclass(frozen=True)
class LibraryModel(LazyModel[Any]):
    """A model that is loaded for the first text, onto one device.

    Attributes
    ----------
    kind
        The name of its class in sentence-transformers.
    max_length
        The number of tokens after which texts are truncated; None for the model's own limit.
    """

    kind: str
    target: str
    folder: Path
    runtime: Runtime = field(repr=False)
    device: str
    max_length: int | None

    @classmethod
    def of(
        cls, kind: str, target: str, runtime: Runtime, how: str, revision: str, device: str, max_length: int | None
    ) -> Self:
        """Find the model's files.

        Parameters
        ----------
        how
            The text before a folder's name in a message's advice, for example ``-e sparse:``.

        Raises
        ------
        ModelNotFoundError
            If the model is not available, or has no tokenizer.
        SpecError
            If an option does not fit, or the model needs code of its own that is not trusted.
        """
        check_whole(f"encoder {target!r}", max_length=max_length)
        device = device or runtime.device
        check_place(device, "auto")
        folder = find(target, revision, runtime, how).folder
        check_code(target, own_modules(folder), runtime.trust_remote_code)
        check_no_adapter(target, folder)
        check_tokenizer(target, folder)
        return cls(kind, target, folder, runtime, device, max_length)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all files of the model, and of the options that change what it computes."""
        runs_own_code = bool(self.runtime.trust_remote_code and own_code(self.folder))
        files = self.runtime.hashes(self.folder, folder_files(self.folder))
        return content_hash([self.kind, files, self.max_length, runs_own_code])

    def explain(self, error: Exception) -> str:
        """Return a library's error as text."""
        return reason(error)

    def load(self) -> Any:
        """Load the model.

        Raises
        ------
        EncoderError
            If weights are missing, or the device is not available.
        """
        import sentence_transformers

        with quiet("transformers"):
            model = getattr(sentence_transformers, self.kind)(
                str(self.folder),
                device=available_device(self.device),
                trust_remote_code=self.runtime.trust_remote_code,
                model_kwargs={"dtype": DTYPE},
                local_files_only=True,
            )
        if self.max_length:
            model.max_seq_length = self.max_length
        if model.transformers_model is not None:
            check_stored(model.transformers_model, modules(self.folder)[0][1])
        return model
