"""A sparse model such as SPLADE: by name, or ./folder; a SparseEncoder of sentence-transformers.

A text has a weight for each token of the vocabulary, most of them 0; the dot product of two texts is their similarity.
"""

from __future__ import annotations

from embassay.core.errors import ModelNotFoundError
from embassay.core.types import Runtime
from embassay.models.base import changed_options
from embassay.models.limits import Count
from embassay.models.neural.model import Model, configured_model
from embassay.models.neural.model_files import read_json
from embassay.models.neural.modules import modules

EXTRA = "hf"
REQUIRES = ("torch", "transformers", "sentence_transformers")
TARGET = "MODEL or ./FOLDER"


def create(
    target: str, runtime: Runtime, *, revision: str = "", max_length: Count | None = None, device: str = ""
) -> Model:
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
    options = changed_options(create, **locals())
    model = configured_model("SparseEncoder", "sparse", target, runtime, options)
    kinds = [kind for kind, _ in modules(model.found.folder)]
    architectures = read_json(model.found.folder / "config.json").get("architectures") or [""]
    is_sparse = any(".sparse_encoder." in kind or ".Router" in kind for kind in kinds)
    # Of a masked language model the library makes SPLADE; to any other model it adds a layer of random weights.
    if not is_sparse and not (len(kinds) == 1 and architectures[0].endswith("ForMaskedLM")):
        raise ModelNotFoundError(f"encoder {target!r} is no sparse model; without sparse: it has dense vectors")
    return model
