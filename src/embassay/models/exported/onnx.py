"""A model exported to ONNX, in float32 or int8, run by onnxruntime: onnx:FOLDER.

The folder is one as sentence-transformers or optimum writes it.
"""

from __future__ import annotations

from typing import Literal

from embassay.core.store.paths import source_path
from embassay.core.types import Runtime, check_device
from embassay.core.vectors import Similarity
from embassay.models.exported.graph_runner import GraphRunner
from embassay.models.exported.model_folder import ExportedFolder
from embassay.models.neural.locations import LOCAL_FOLDER, ModelFiles
from embassay.models.neural.model import Model, explicit, with_prompts

TARGET = "FOLDER"
EXTRA = "onnx"
REQUIRES = ("onnxruntime", "tokenizers")
GraphPooling = Literal["mean", "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]


def create(
    target: str,
    runtime: Runtime,
    *,
    file: str = "",
    pooling: GraphPooling | None = None,
    query_prompt: str | None = None,
    document_prompt: str | None = None,
    text_prompt: str | None = None,
    max_length: int | None = None,
    dim: int | None = None,
    device: str = "",
    normalize: bool = False,
    similarity: Similarity | None = None,
) -> Model:
    """Read the folder's configuration; the graph is loaded when the first text is encoded.

    Parameters
    ----------
    target
        The folder.
    file
        The graph's file, if the folder has several: ``onnx/model_quantized.onnx``.
    pooling
        How token vectors are pooled, if the graph returns token vectors and the folder has no pooling configuration.
    query_prompt, document_prompt, text_prompt
        Prompt put before each text of that role, instead of the one in the folder.
    max_length
        Truncate texts after this many tokens; by default the model's own limit.
    dim
        Keep only this many leading dimensions.
    device
        ``cpu``, or ``cuda:0`` … for an onnxruntime that supports CUDA; by default the run's device.
    normalize
        Scale vectors to unit length.
    similarity
        Similarity of queries and documents; by default the model's own, else cosine.

    Raises
    ------
    ModelNotFoundError
        If the folder, its graph, its tokenizer or a part of its configuration is missing or damaged.
    SpecError
        For a length or a number of dimensions below 1, for more dimensions than the model has, and for a device of an
        unknown kind.
    """
    options = explicit(
        f"encoder 'onnx:{target}'",
        file=file or None,
        pooling=pooling,
        query_prompt=query_prompt,
        document_prompt=document_prompt,
        text_prompt=text_prompt,
        max_length=max_length,
        dim=dim,
        normalize=normalize,
        similarity=similarity,
    )
    device = device or runtime.device
    check_device(device)
    folder = ExportedFolder.of(source_path(target), file, pooling or "")
    limits = (max_length, folder.max_length)
    return Model(
        scheme="onnx",
        target=target,
        found=ModelFiles(folder.path, LOCAL_FOLDER),
        runtime=runtime,
        device=device,
        files={folder.path: folder.files},
        tokens=folder.path,
        options=options,
        prompts=with_prompts(folder.prompts, options),
        limit=min(filter(None, limits), default=None),
        load=lambda model: GraphRunner.load(folder, device, model.limit),
        similarity=folder.similarity,
        settings={"file": file, "pooling": pooling},
        known_route={"graph": folder.graph.relative_to(folder.path).as_posix()},
        warnings=folder.warnings,
    )
