"""A sentence-transformers model: by name, or ./folder; the default scheme.

A model is described by its files; it is loaded when the first text is encoded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from embassay.core.types import Runtime
from embassay.core.vectors import Similarity
from embassay.models.base import changed_options
from embassay.models.light.choice import check_installed, choose_route
from embassay.models.light.runner import LightRunner
from embassay.models.limits import Count
from embassay.models.neural.locations import find_offline
from embassay.models.neural.model import Model, configured_model
from embassay.models.neural.modules import class_of, default_pooling

EXTRA = "light"
REQUIRES = ("huggingface_hub",)
"""What finds the files of a model; the packages that run it depend on the model."""
TARGET = "MODEL or ./FOLDER"


def create(
    target: str,
    runtime: Runtime,
    *,
    revision: str = "",
    query_prompt: str | None = None,
    document_prompt: str | None = None,
    text_prompt: str | None = None,
    max_length: Count | None = None,
    dim: Count | None = None,
    dtype: Literal["float32", "float16", "bfloat16"] = "float32",
    device: str = "",
    normalize: bool = False,
    similarity: Similarity | None = None,
    vectors: Literal["float32", "int8", "binary"] = "float32",
) -> Model:
    """Find the model's files and describe it; nothing is loaded yet.

    Parameters
    ----------
    revision
        A branch, tag or commit of the hub's repository.
    query_prompt, document_prompt, text_prompt
        Prompt put before each text of that role, instead of the one in the model's configuration.
    max_length
        Truncate texts after this many tokens, at most the positions of the model; by default its own limit.
    dim
        Keep only this many leading dimensions (for Matryoshka models).
    dtype
        Precision of the weights and of the arithmetic.
    device
        Where to run: ``cpu``, ``cuda:0`` …; the run's device by default.
    normalize
        Scale vectors to unit length.
    similarity
        Similarity of queries and documents; by default the model's own, else cosine.
    vectors
        Quantisation: ``int8`` rounds each vector to 255 steps of its largest coordinate, ``binary`` keeps only signs.

    Raises
    ------
    ModelNotFoundError
        If the model is not available.
    SpecError
        If an option does not fit the model, or the model needs code of its own.
    """
    options = changed_options(create, **locals())
    model = configured_model("SentenceTransformer", "st", target, runtime, options)
    folder = model.found.folder
    light, why_not = choose_route(target, folder, runtime.backend, model.device, dtype)
    notes = [why_not] if why_not else []
    if (saved_as := class_of(folder)) != "SentenceTransformer":
        problem = f"is a {saved_as} of sentence-transformers" if saved_as else "has no modules.json"
        notes.append(f"the model {problem}: {default_pooling(folder)} pooling is used")
    model = replace(model, warnings=(*notes, *model.warnings))
    if light is None:
        return model
    return replace(model, light=light, device="cpu", open=lambda described: LightRunner(light, described.limit))


def at_hand(target: str, runtime: Runtime) -> bool:
    """Return whether a model's files are on this machine; torch is not imported.

    Raises
    ------
    MissingExtraError
        If nothing that could run the model is installed.
    """
    check_installed(target)
    return find_offline(target, "") is not None
