"""The folder of an exported model: its graph, its tokenizer, and how its outputs become a text's vector.

A folder that ``embassay export`` wrote says so in ``embassay.json``. Others, as optimum writes them and the hub has
them, are read by their sentence-transformers configuration.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeGuard

from embassay.encoders.exported.pooling import configured
from embassay.encoders.neural.hf_files import limit_of, special
from embassay.encoders.neural.locations import modules, read_json
from embassay.encoders.neural.prompts import by_role
from embassay.errors import ModelNotFoundError, SpecError
from embassay.types import JsonObject

RECORD, FORMAT = "embassay.json", 1
FIDELITY = "fidelity.json"
KNOWN = (".Transformer", ".Pooling", ".Normalize")
"""Modules of sentence-transformers that can be done after a graph that ends with tokens."""
UNPOOLED = (
    "the folder has no pooling configuration: if the graph returns token vectors, mean pooling is used "
    "(set pooling= to change it)"
)
ASIDE = (".md", ".png", ".jpg", ".safetensors", ".h5", ".msgpack", ".ot", ".pt", ".ckpt", ".gitattributes")
"""Endings of what no vector of a graph depends on: documentation, the weights for other libraries."""


@dataclass(frozen=True)
class ExportedFolder:
    """What a folder says of its model.

    Attributes
    ----------
    graph
        The graph's file.
    modes
        The pooling of a graph that ends with tokens; empty if nothing says it: the mean.
    normalize
        Whether vectors are then scaled to unit length.
    pad
        The token that shorter texts are filled up with.
    dim
        The dimensions that ``embassay.json`` or the configuration of the pooling promises; None if none does.
    int8
        Whether ``embassay.json`` says that its weights are whole numbers of 8 bits.
    """

    path: Path
    graph: Path
    modes: tuple[str, ...]
    normalize: bool
    max_length: int | None
    prompts: Mapping[str, str]
    similarity: str
    lower: bool = False
    pad: int = 0
    dim: int | None = None
    int8: bool = False
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, path: Path, suffix: str, known: tuple[str, ...], file: str = "", pooling: str = "") -> ExportedFolder:
        """Read a folder.

        Parameters
        ----------
        suffix
            Of a graph's file: ``.onnx`` or ``.xml``.
        known
            Where the graph lies, the first that there is.
        file
            The graph's file, relative to the folder, where the user says which.
        pooling
            The pooling, where the user says which; a graph that ends with the text's vector has its own.

        Raises
        ------
        ModelNotFoundError
            If there is no such folder, no graph, several of which none is named, no tokenizer, or a configuration that
            is damaged or has modules that cannot be done.
        """
        if not path.is_dir():
            raise ModelNotFoundError(f"{path}: no such folder; create it with 'embassay export'")
        graph = _graph(path, suffix, known, file)
        if not (path / "tokenizer.json").is_file():
            raise ModelNotFoundError(f"{path}: tokenizer.json is missing; save the model's tokenizer there")
        if suffix == ".xml" and not graph.with_suffix(".bin").is_file():
            raise ModelNotFoundError(f"{graph}: the weights ({graph.with_suffix('.bin').name}) are missing")
        if (path / RECORD).is_file() and pooling:
            raise SpecError(
                f"{path}, option 'pooling': cannot be used here, because the graph includes the pooling; leave it out"
            )
        return _recorded(path, graph) if (path / RECORD).is_file() else _configured(path, graph, pooling)

    @property
    def files(self) -> tuple[str, ...]:
        """The files that its vectors depend on, relative to the folder: all but documentation and other graphs."""
        files = []
        for top, folders, names in os.walk(self.path, followlinks=True):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                file = Path(top) / name
                if file == self.graph or not (_is_aside(name) or self._is_of_another_graph(file)):
                    files.append(file.relative_to(self.path).as_posix())
        return tuple(sorted(files))

    def _is_of_another_graph(self, file: Path) -> bool:
        """Return whether a file is another graph, or lies beside one and has its name: its weights."""
        if file.suffix in (".onnx", ".xml"):
            return file != self.graph
        stem = _stem(file)
        if file.parent != self.graph.parent or stem == _stem(self.graph):
            return False
        return any(_stem(graph) == stem for graph in self.graph.parent.glob(f"*{self.graph.suffix}"))


def _stem(file: Path) -> str:
    return file.name.partition(".")[0]


def _is_aside(name: str) -> bool:
    """Return whether no vector of a graph depends on a file of this name."""
    weights_of_other_libraries = name.startswith(("pytorch_model", "tf_model", "rust_model", "flax_model"))
    return weights_of_other_libraries or name.startswith(".") or name in (FIDELITY, "LICENSE") or name.endswith(ASIDE)


def _graph(path: Path, suffix: str, known: tuple[str, ...], file: str) -> Path:
    """Return the graph's file: the named one, the first known one, or the only one."""
    if file:
        if not (path / file).is_file() or not file.endswith(suffix):
            raise ModelNotFoundError(f"{path / file}: no such graph; set file= to a {suffix} file in the folder")
        return path / file
    for name in known:
        if (path / name).is_file():
            return path / name
    names = sorted(p.relative_to(path).as_posix() for p in path.rglob(f"*{suffix}"))
    if len(names) == 1:
        return path / names[0]
    if names:
        raise ModelNotFoundError(f"{path}: several graphs ({', '.join(names)}); choose one with file=")
    raise ModelNotFoundError(f"{path}: {known[0]} is missing; create it with 'embassay export'")


def _recorded(path: Path, graph: Path) -> ExportedFolder:
    """Read what ``embassay export`` wrote down."""
    record = read_json(path / RECORD)
    prompts, dim, length = record.get("prompts"), record.get("dim"), record.get("max_length")
    complete = (
        record.get("format") == FORMAT
        and _is_count(dim)
        and (length is None or _is_count(length))
        and isinstance(record.get("pad"), int)
    )
    if not complete or not isinstance(prompts, dict):
        raise ModelNotFoundError(
            f"{path / RECORD}: not the record of an export in format {FORMAT}; export the model again"
        )
    return ExportedFolder(
        path,
        graph,
        # The graph ends with the text's vector.
        modes=(),
        normalize=False,
        max_length=length,
        prompts={str(role): str(prompt) for role, prompt in prompts.items()},
        similarity=str(record.get("similarity")),
        pad=record["pad"],
        dim=dim,
        int8=bool(record.get("int8")),
    )


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and value > 0


def _configured(path: Path, graph: Path, pooling: str) -> ExportedFolder:
    """Read the configuration of a sentence-transformers model beside a graph."""
    kinds = [kind for kind, _ in modules(path)]
    transformer = modules(path)[0][1]
    module = next((place for kind, place in modules(path) if kind.endswith(".Pooling")), None)
    config = read_json(module / "config.json") if module else {}
    modes = (pooling,) if pooling else configured(config)
    if module and not (module / "config.json").is_file() and not pooling:
        raise ModelNotFoundError(f"{module / 'config.json'}: missing; copy it there, or set pooling=")
    if module and not modes:
        raise ModelNotFoundError(f"{module / 'config.json'}: unknown pooling; set pooling=")
    if config.get("include_prompt") is False:
        raise ModelNotFoundError(
            f"{module}: leaving the prompt out of the pooling (include_prompt=false) is not supported"
        )
    settings = read_json(path / "config_sentence_transformers.json")
    bert = read_json(transformer / "sentence_bert_config.json")
    prompts = by_role(settings.get("prompts") or {}, settings.get("default_prompt_name"))
    return ExportedFolder(
        path,
        graph,
        modes=modes,
        normalize=any(kind.endswith(".Normalize") for kind in kinds),
        max_length=_max_length(transformer, bert),
        prompts={str(role): str(prompt) for role, prompt in prompts.items()},
        similarity=str(settings.get("similarity_fn_name") or "cosine"),
        lower=bool(bert.get("do_lower_case")),
        pad=_pad(path),
        dim=_pooled_dim(kinds, modes, config),
        warnings=() if modes else (UNPOOLED,),
    )


def other_modules(folder: ExportedFolder) -> tuple[str, ...]:
    """Return the modules of a folder that only a graph which ends with the text's vector can have in it."""
    return tuple(kind for kind, _ in modules(folder.path) if not kind.endswith(KNOWN))


def _pooled_dim(kinds: Sequence[str], modes: Sequence[str], config: JsonObject) -> int | None:
    """Return the dimensions that the pooling's configuration says, where nothing after it changes them."""
    dim = config.get("word_embedding_dimension", config.get("embedding_dimension"))
    plain = len(modes) == 1 and all(kind.endswith(KNOWN) for kind in kinds)
    return dim if plain and _is_count(dim) else None


def _max_length(place: Path, bert: JsonObject) -> int | None:
    """Return the tokens that the model reads: what sentence-transformers' configuration says, else its tokenizer's.

    Never more than it has positions.
    """
    length = bert.get("max_seq_length")
    return limit_of(read_json(place / "config.json"), place, length if _is_count(length) else None)


def _pad(path: Path) -> int:
    """Return the number of the padding token: the tokenizer's, else the model's, else 0."""
    tokenizer = read_json(path / "tokenizer.json")
    padding = tokenizer.get("padding")
    if isinstance(padding, dict) and isinstance(padding.get("pad_id"), int):
        return int(padding["pad_id"])
    pad_token = special(path, "pad_token")
    for token in tokenizer.get("added_tokens") or ():
        if pad_token and isinstance(token, dict) and token.get("content") == pad_token:
            return int(token["id"])
    model_pad = read_json(path / "config.json").get("pad_token_id")
    return model_pad if isinstance(model_pad, int) else 0
