"""The folder of an exported model: its graph, its tokenizer, and how its outputs become one vector per text.

The outputs become vectors as the configuration of sentence-transformers in the folder says.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from embassay.core.errors import ModelNotFoundError
from embassay.core.types import JsonObject
from embassay.models.exported.pooling import configured
from embassay.models.neural.model_files import read_json
from embassay.models.neural.modules import (
    configured_prompts,
    modules,
    settings_of,
    token_limit,
    transformer_settings,
)

PLACES = ("model.onnx", "onnx/model.onnx")
"""The usual paths of a graph in its folder; the first one that exists is used."""
KNOWN = (".Transformer", ".Pooling", ".Normalize")
"""Modules of sentence-transformers that are implemented here for graphs that return token vectors."""
UNPOOLED = (
    "the folder has no pooling configuration: if the graph returns token vectors, mean pooling is used "
    "(set pooling= to change it)"
)
ASIDE = (".md", ".png", ".jpg", ".safetensors", ".h5", ".msgpack", ".ot", ".pt", ".ckpt", ".gitattributes")
"""Suffixes of files on which no vector of a graph depends: documentation, weights for other libraries."""


@dataclass(frozen=True)
class ExportedFolder:
    """The content of a folder.

    Attributes
    ----------
    graph
        The graph's file.
    modes
        The pooling modes for a graph that returns token vectors; empty (the mean) if the folder does not name them.
    normalize
        Whether pooled vectors are scaled to unit length.
    lower
        Whether texts are lower-cased.
    dim
        The number of dimensions in the configuration of the pooling; None if unknown.
    """

    path: Path
    graph: Path
    modes: tuple[str, ...]
    normalize: bool
    max_length: int | None
    prompts: Mapping[str, str]
    similarity: str
    lower: bool
    dim: int | None
    warnings: tuple[str, ...]

    @classmethod
    def of(cls, path: Path, file: str, pooling: str) -> ExportedFolder:
        """Read a folder.

        Parameters
        ----------
        file
            The graph's file, relative to the folder, if the user chose one.
        pooling
            The pooling mode, if the user chose one. A graph that returns text vectors has its own pooling.

        Raises
        ------
        ModelNotFoundError
            If there is no such folder, no graph, several graphs without a choice, no tokenizer, or a configuration
            that is damaged or has modules that are not supported.
        """
        if not path.is_dir():
            raise ModelNotFoundError(f"{path}: no such folder; export the model with sentence-transformers or optimum")
        graph = _graph(path, file)
        if not (path / "tokenizer.json").is_file():
            raise ModelNotFoundError(f"{path}: tokenizer.json is missing; save the model's tokenizer there")
        config_file = next((place / "config.json" for kind, place in modules(path) if kind.endswith(".Pooling")), None)
        config = read_json(config_file) if config_file else {}
        modes = (pooling,) if pooling else configured(config)
        if config_file and not modes:
            if not config_file.is_file():
                raise ModelNotFoundError(f"{config_file}: missing; copy it there, or set pooling=")
            raise ModelNotFoundError(f"{config_file}: unknown pooling; set pooling=")
        if config_file and config.get("include_prompt") is False:
            raise ModelNotFoundError(
                f"{config_file.parent}: leaving the prompt out of the pooling (include_prompt=false) is not supported"
            )
        settings = transformer_settings(modules(path)[0][1])
        return cls(
            path,
            graph,
            modes=modes,
            normalize=any(kind.endswith(".Normalize") for kind, _ in modules(path)),
            max_length=token_limit(path),
            prompts={str(role): prompt for role, prompt in configured_prompts(path).items()},
            similarity=settings_of(path).get("similarity_fn_name") or "cosine",
            lower=bool(settings.get("do_lower_case")),
            # Another way to pool may give other dimensions.
            dim=None if pooling else _dimensions(config) * len(modes) or None,
            warnings=() if modes else (UNPOOLED,),
        )

    @property
    def files(self) -> tuple[str, ...]:
        """The files on which vectors depend, relative to the folder: all except documentation and other graphs."""
        files = []
        for top, folders, names in os.walk(self.path, followlinks=True):
            # Changing the list keeps os.walk out of hidden folders.
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                file = Path(top) / name
                if file == self.graph or not (_is_aside(name) or self._is_of_another_graph(file)):
                    files.append(file.relative_to(self.path).as_posix())
        return tuple(sorted(files))

    def _is_of_another_graph(self, file: Path) -> bool:
        """Return whether a file is another graph or its weights, which have the graph's name."""
        if file.suffix == ".onnx":
            return file != self.graph
        # Weights beside a graph have its name and another suffix: model.onnx, model.onnx_data.
        stem = _stem(file)
        if file.parent != self.graph.parent or stem == _stem(self.graph):
            return False
        graph_stems = {_stem(graph) for graph in self.graph.parent.glob("*.onnx")}
        return stem in graph_stems


def _dimensions(config: JsonObject) -> int:
    """Return the number of dimensions of token vectors in the configuration of a pooling; 0 if it has none."""
    return int(config.get("embedding_dimension") or config.get("word_embedding_dimension") or 0)


def _stem(file: Path) -> str:
    """Return the name of a file up to its first dot."""
    return file.name.partition(".")[0]


def _is_aside(name: str) -> bool:
    """Return whether no vector of a graph depends on a file of this name."""
    weights_of_other_libraries = name.startswith(("pytorch_model", "tf_model", "rust_model", "flax_model"))
    return weights_of_other_libraries or name.startswith(".") or name == "LICENSE" or name.endswith(ASIDE)


def _graph(path: Path, file: str) -> Path:
    """Return the graph's file: the chosen one, otherwise the first in a usual place, otherwise the only one."""
    if file:
        if not (path / file).is_file() or not file.endswith(".onnx"):
            raise ModelNotFoundError(f"{path / file}: no such graph; set file= to an .onnx file in the folder")
        return path / file
    for name in PLACES:
        if (path / name).is_file():
            return path / name
    names = sorted(p.relative_to(path).as_posix() for p in path.rglob("*.onnx"))
    if len(names) == 1:
        return path / names[0]
    if names:
        raise ModelNotFoundError(f"{path}: several graphs ({', '.join(names)}); choose one with file=")
    raise ModelNotFoundError(f"{path}: model.onnx is missing; export the model with sentence-transformers or optimum")


def other_modules(folder: ExportedFolder) -> tuple[str, ...]:
    """Return the modules of a folder that are not implemented here, so only the graph itself can contain them."""
    return tuple(kind for kind, _ in modules(folder.path) if not kind.endswith(KNOWN))
