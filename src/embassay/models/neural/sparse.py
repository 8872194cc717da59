"""A sparse model such as SPLADE: by name, or ./folder; a SparseEncoder of sentence-transformers.

A text has a weight for each token of the vocabulary, most of them 0; the dot product of two texts is their similarity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.sparse import csr_array

from embassay.core.errors import ModelNotFoundError
from embassay.core.samples.base import Role
from embassay.core.types import Card, Runtime
from embassay.core.vectors import VectorMatrix
from embassay.models.base import BaseEncoder, spec_of, supported_similarity
from embassay.models.neural.library_model import LibraryModel
from embassay.models.neural.locations import read_json
from embassay.models.neural.modules import modules, settings_of

EXTRA = "hf"
REQUIRES = ("torch", "transformers", "sentence_transformers")
TARGET = "MODEL or ./FOLDER"
SPARSE = (".sparse_encoder.", ".Router")
"""Parts of the types of modules that only sparse models have."""


def create(
    target: str, runtime: Runtime, *, revision: str = "", max_length: int | None = None, device: str = ""
) -> SparseModelEncoder:
    """Find the model's files; nothing is loaded yet.

    Parameters
    ----------
    revision
        A branch, tag or commit of the hub's repository.
    max_length
        Truncate texts after this many tokens; by default the model's own limit.
    device
        Where to run; the run's device by default.

    Raises
    ------
    ModelNotFoundError
        If the model is not available, or is no sparse model.
    SpecError
        If it needs code of its own that is not trusted.
    """
    found = LibraryModel.of("SparseEncoder", target, runtime, "-e sparse:", revision, device, max_length)
    kinds = [kind for kind, _ in modules(found.folder)]
    architectures = read_json(found.folder / "config.json").get("architectures") or [""]
    is_sparse = any(part in kind for kind in kinds for part in SPARSE)
    # Of a masked language model the library makes SPLADE; to any other model it adds a layer of random weights.
    if not is_sparse and not (len(kinds) == 1 and architectures[0].endswith("ForMaskedLM")):
        raise ModelNotFoundError(f"encoder {target!r} is no sparse model; without sparse: it has dense vectors")
    spec = spec_of(f"sparse:{target}", {"revision": revision, "max_length": max_length})
    return SparseModelEncoder(target, spec, found)


@dataclass(frozen=True)
class SparseModelEncoder(BaseEncoder):
    """A sparse model; its own prompts are used."""

    name: str
    spec: str
    library: LibraryModel

    @property
    def card(self) -> Card:
        """The properties of the encoder that its files contain."""
        settings = settings_of(self.library.folder)
        return Card(
            self.spec,
            prompts={role: prompt for role, prompt in (settings.get("prompts") or {}).items() if prompt},
            similarity=supported_similarity(settings.get("similarity_fn_name") or "dot"),
        )

    @property
    def fingerprint(self) -> str:
        """A hash of all files of the model, and of the options that change vectors."""
        return self.library.fingerprint

    def prepare(self) -> None:
        """Load the model."""
        _ = self.library.model

    def release(self) -> None:
        """Release the model; it is loaded again for the next text."""
        self.library.release()

    def encode(self, texts: Sequence[str], role: Role = "text") -> VectorMatrix:
        """Return (n, vocabulary) CSR float32, by the model's method for the role."""
        model = self.library.model
        encode = {"query": model.encode_query, "document": model.encode_document, "text": model.encode}[role]
        rows = encode(list(texts), convert_to_sparse_tensor=False, show_progress_bar=False)
        return csr_array(rows.float().cpu().numpy())
