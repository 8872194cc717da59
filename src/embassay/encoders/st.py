"""A sentence-transformers model: by name, or ./folder; the default scheme.

Nothing is loaded before the first text has to be encoded: what a model is can be told from its files.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from embassay.encoders import _runner
from embassay.encoders._models import (
    Found,
    find,
    find_offline,
    folder_files,
    modules,
    own_code,
    own_modules,
    read_json,
    without_tokenizer,
)
from embassay.errors import EncoderError, ModelNotFoundError, SpecError, UnknownNameError
from embassay.samples import Role
from embassay.types import Card, Runtime, check_device, content_hash

EXTRA = "hf"
REQUIRES = ("torch", "transformers", "sentence_transformers")
TARGET = "MODEL or ./FOLDER"
FAMILIES = {
    r"(^|[-_])e5[-_](?!.*instruct)": "query_prompt='query: ' and document_prompt='passage: '",
    r"(^|[-_])e5[-_].*instruct": "query_prompt='Instruct: …\\nQuery: '",
    r"^bge-(small|base|large)-en": "query_prompt='Represent this sentence for searching relevant passages: '",
}
"""Models that were trained with prompts which their configurations often lack: said, never put in."""
DOCUMENT_PROMPTS = ("document", "passage", "corpus")
"""The names under which models keep a document prompt, as sentence-transformers looks for them."""


def create(
    target: str,
    runtime: Runtime,
    *,
    revision: str = "",
    query_prompt: str | None = None,
    document_prompt: str | None = None,
    text_prompt: str | None = None,
    max_length: int | None = None,
    dim: int | None = None,
    dtype: Literal["float32", "float16", "bfloat16"] = "float32",
    device: str = "",
    normalize: bool = False,
    similarity: Literal["cosine", "dot"] | None = None,
    vectors: Literal["float32", "int8", "binary"] = "float32",
) -> SentenceTransformersEncoder:
    """Find the model's files and describe it; nothing is loaded yet.

    Parameters
    ----------
    revision
        A branch, tag or commit of the hub's repository.
    query_prompt, document_prompt, text_prompt
        What to put before a text of that role, instead of what the model's own configuration says.
    max_length
        Cut texts after this many tokens; the model's own limit by default.
    dim
        Keep the first dimensions only (Matryoshka models).
    dtype
        Precision of the weights and of the arithmetic.
    device
        Where to run: ``cpu``, ``cuda:0`` …; the run's device by default.
    normalize
        Scale vectors to unit length.
    similarity
        What queries and documents are compared by; the model's own, else cosine.
    vectors
        How vectors are kept: ``int8`` rounds each to 255 steps of its largest coordinate, ``binary`` keeps signs only.

    Raises
    ------
    ModelNotFoundError
        If the model is neither on this machine nor to be had.
    """
    for name, value in (("max_length", max_length), ("dim", dim)):
        if value is not None and value < 1:
            raise SpecError(f"encoder {target!r}, option {name!r}: must be 1 or more, is {value}")
    options = {
        "revision": revision,
        "query_prompt": query_prompt,
        "document_prompt": document_prompt,
        "text_prompt": text_prompt,
        "max_length": max_length,
        "dim": dim,
        "dtype": None if dtype == "float32" else dtype,
        "normalize": normalize or None,
        "similarity": similarity,
        "vectors": None if vectors == "float32" else vectors,
    }
    check_device(device or runtime.device)
    if runtime.backend not in ("auto", *_runner.ROUTES):
        raise UnknownNameError("backend", runtime.backend, ("auto", *_runner.ROUTES))
    found = find(target, revision, runtime.sha256)
    _check_code(target, found.folder, runtime)
    given = {name: value for name, value in options.items() if value not in (None, "")}
    given |= {f"{role}_prompt": p for role in ("query", "document", "text") if (p := options[f"{role}_prompt"]) == ""}
    return SentenceTransformersEncoder(target, found, runtime, device or runtime.device, dtype, given)


def at_hand(target: str, runtime: Runtime) -> bool:
    """Say whether a model's files are on this machine; torch is not imported to find out."""
    return find_offline(target, "", runtime.sha256) is not None


@dataclass(frozen=True)
class SentenceTransformersEncoder:
    """A sentence-transformers model that is loaded when it is first needed."""

    target: str
    found: Found
    runtime: Runtime = field(repr=False)
    device: str = "auto"
    dtype: str = "float32"
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The model's name, or its folder's."""
        return self.target

    @cached_property
    def card(self) -> Card:
        """What the model's files say."""
        spec = ",".join([f"st:{self.target}", *(f"{k}={v}" for k, v in sorted(self.given.items()))])
        warnings = []
        if not (self.found.folder / "modules.json").is_file():
            warnings.append("no modules.json: mean pooling is assumed")
        if own_code(self.found.folder) and not self.runtime.trust_remote_code:
            warnings.append("it has code of its own, which is not run without --trust-remote-code")
        if any("--" in name for name in own_code(self.found.folder)):
            warnings.append("its code lies in another repository and is no part of its fingerprint")
        if self._prompts["query"] and not self._prompts["text"]:
            warnings.append("it has a prompt for queries but none for plain texts: plain texts get none")
        wanted = [p for pattern, p in FAMILIES.items() if re.search(pattern, self.target.rsplit("/", 1)[-1].lower())]
        if wanted and not any(self._prompts.values()):
            warnings.append(f"it is named like a family that was trained with {wanted[0]}, and has no prompt here")
        if (own := self._own_similarity) not in ("cosine", "dot") and "similarity" not in self.given:
            warnings.append(f"it compares by {own}, which is not had here: cosine is used")
        return Card(
            spec,
            revision=self.found.revision,
            parameters=_parameters(self.found.folder),
            max_tokens=self._max_tokens,
            prompts={role: prompt for role, prompt in self._prompts.items() if prompt},
            warnings=tuple(warnings),
            similarity=self.given.get("similarity") or ("dot" if self._own_similarity == "dot" else "cosine"),
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of every file of the model and of what changes its vectors: prompts, length, dimension, type."""
        folder = self.found.folder
        files = {name: self.runtime.sha256(folder / name) for name in folder_files(folder)}
        settings = {k: self.given.get(k) for k in ("dim", "normalize", "max_length")}
        settings |= {"kept as": self.given["vectors"]} if "vectors" in self.given else {}
        code = bool(self.runtime.trust_remote_code and own_code(folder))
        return content_hash(["st", files, self._prompts, settings, self.dtype, code])

    def fit(self, texts: Sequence[str]) -> SentenceTransformersEncoder:
        """Return itself: nothing is learnt."""
        return self

    def encode(self, texts: Sequence[str], role: Role = "text") -> NDArray[np.float32]:
        """Return (n, d) float32, each text with its role's prompt; equal texts are encoded once."""
        row = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        found = list(self.batches(list(row), role))
        if not found:
            return np.zeros((0, self.given.get("dim") or 1), dtype=np.float32)
        matrix = np.empty((len(row), found[0][1].shape[1]), dtype=np.float32)
        for places, rows in found:
            matrix[places] = rows
        return matrix[[row[text] for text in texts]]

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[tuple[NDArray[np.int64], NDArray[np.float32]]]:
        """Yield (places in ``texts``, their vectors) batch by batch, so that each can be kept when it is ready."""
        for places, rows in _runner.run(self._runners, texts, self._prompts[role]):
            if (asked := self.given.get("dim")) and rows.shape[1] < asked:
                raise EncoderError(f"it has {rows.shape[1]} dimensions, dim={asked} asks for more")
            yield places, _quantized(rows, self.given.get("vectors", "float32"))

    def reworded(self, role: Role) -> Iterator[SentenceTransformersEncoder]:
        """Yield the same model with other wordings of a role's prompt; nothing where it has none."""
        prompt = self._prompts[role]
        for wording in _reworded(prompt) if prompt else ():
            other = replace(self, given={**self.given, f"{role}_prompt": wording})
            vars(other)["_runners"] = self._runners
            yield other

    def count_tokens(self, texts: Sequence[str], role: Role) -> NDArray[np.int64]:
        """Return the number of tokens of each text before truncation, prompt and special tokens included."""
        prompt = self._prompts[role]
        encodings = self._tokenizer.encode_batch([prompt + text for text in texts])
        return np.array([len(e.ids) for e in encodings], dtype=np.int64)

    @property
    def route(self) -> Mapping[str, Any]:
        """How it runs, for ``run.json``: nothing of it changes what a vector means."""
        runners: Sequence[_runner.Runner] = vars(self).get("_runners", ())
        devices = ",".join(str(runner.model.device) for runner in runners) or self.device
        how = {"backend": runners[0].route, "tokens_per_batch": runners[0].tokens} if runners else {}
        return {"device": devices, "dtype": self.dtype, **how}

    def release(self) -> None:
        """Let go of the loaded model; the next text loads it again."""
        vars(self).pop("_runners", None)

    @cached_property
    def _prompts(self) -> Mapping[Role, str]:
        config = read_json(self.found.folder / "config_sentence_transformers.json")
        own = config.get("prompts") or {}
        default: dict[Role, str] = {
            "text": own.get(config.get("default_prompt_name") or "", ""),
            "query": own.get("query", ""),
            "document": next((own[name] for name in DOCUMENT_PROMPTS if name in own), ""),
        }
        return {role: self.given.get(f"{role}_prompt", prompt) for role, prompt in default.items()}

    @property
    def _own_similarity(self) -> str:
        """What the model's configuration says that it compares by; cosine where it says nothing."""
        return str(
            read_json(self.found.folder / "config_sentence_transformers.json").get("similarity_fn_name") or "cosine"
        )

    @property
    def _max_tokens(self) -> int | None:
        place = modules(self.found.folder)[0][1]
        own = read_json(place / "sentence_bert_config.json").get("max_seq_length")
        own = own or read_json(place / "config.json").get("max_position_embeddings")
        asked = self.given.get("max_length")
        return min(asked, own) if asked and own else asked or own

    @cached_property
    def _runners(self) -> list[_runner.Runner]:
        """The model on each device, ready to run."""
        prompts = list(self._prompts.values())
        options = (self.dtype, prompts, self.runtime.backend, bool(self.given.get("normalize")), self.given.get("dim"))
        devices = [_there(device.strip()) for device in self.device.split(",") if device.strip()]
        runners = [_runner.Runner.of(self._model(device), *options) for device in devices]
        if len({runner.route for runner in runners}) == 1:
            return runners
        # Devices that share the work take the same route, the slowest that one of them needs.
        common = max((runner.route for runner in runners), key=_runner.ROUTES.index)
        return [_runner.Runner.of(r.model, self.dtype, prompts, common, *options[3:]) for r in runners]

    def _model(self, device: str) -> Any:
        """Load the model onto a device."""
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        bar = logging.is_progress_bar_enabled()
        logging.disable_progress_bar()
        try:
            model = SentenceTransformer(
                str(self.found.folder),
                device=None if device == "auto" else device,
                trust_remote_code=self.runtime.trust_remote_code,
                truncate_dim=self.given.get("dim"),
                model_kwargs={"dtype": self.dtype},
                local_files_only=True,
            )
        except Exception as error:
            raise EncoderError(f"it cannot be loaded: {_reason(error)}") from error
        finally:
            if bar:
                logging.enable_progress_bar()
        if "max_length" in self.given:
            model.max_seq_length = self._max_tokens
        return model

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        path = self.found.folder / "tokenizer.json"
        if not path.is_file():
            raise EncoderError(f"{self.target} has no tokenizer.json: its tokens cannot be counted before it runs")
        tokenizer = Tokenizer.from_file(str(path))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer


def _reworded(prompt: str) -> tuple[str, ...]:
    """Return other wordings of a prompt: without its last sign, in capitals, and as two other families put it."""
    bare = prompt.rstrip().rstrip(":")
    wordings = (f"{bare} ", f"{prompt.rstrip().upper()} ", "Text: ", "Represent this text: ")
    return tuple(wording for wording in dict.fromkeys(wordings) if wording != prompt)


def _there(device: str) -> str:
    """Return a device that torch can use here.

    Raises
    ------
    EncoderError
        If there is none of that name.
    """
    import torch

    kind, _, number = device.partition(":")
    if kind == "cuda" and not torch.cuda.is_available():
        raise EncoderError(f"the device {device!r} was asked for, but torch sees no CUDA GPU; leave --device out")
    if kind == "cuda" and number and int(number) >= torch.cuda.device_count():
        raise EncoderError(f"the device {device!r} was asked for, but there are {torch.cuda.device_count()} CUDA GPUs")
    if kind == "mps" and not torch.backends.mps.is_available():
        raise EncoderError("the device 'mps' was asked for, but torch sees none; leave --device out")
    return device


def _quantized(rows: NDArray[np.float32], kind: str) -> NDArray[np.float32]:
    """Return vectors as a store of int8 or of single bits would keep them, as float32 again."""
    if kind == "int8":
        largest = np.maximum(np.abs(rows).max(axis=1, keepdims=True), np.finfo(np.float32).tiny)
        return np.asarray(np.rint(rows / largest * 127) * (largest / 127), dtype=np.float32)
    return np.asarray(np.where(rows > 0, 1, -1), dtype=np.float32) if kind == "binary" else rows


def _check_code(target: str, folder: Path, runtime: Runtime) -> None:
    """Refuse code that was not asked for, and what could not be run as it is meant to be."""
    foreign = own_modules(folder)
    if foreign and not runtime.trust_remote_code:
        raise SpecError(
            f"encoder {target!r} brings its own code ({', '.join(foreign)}); "
            "if you trust it, add --trust-remote-code LABEL"
        )
    if any(kind.endswith((".Router", ".Asym")) for kind, _ in modules(folder)):
        raise SpecError(
            f"encoder {target!r} takes queries and documents through different modules (Router), which is not supported"
        )
    if without_tokenizer(folder):
        raise ModelNotFoundError(
            f"encoder {target!r}: its folder has no tokenizer (tokenizer.json, vocab.txt …); save it beside the weights"
        )
    if (folder / "adapter_config.json").is_file():
        raise ModelNotFoundError(f"encoder {target!r} is an adapter; merge it into its base model and save that")


def _reason(error: Exception) -> str:
    reason = next((line.strip() for line in str(error).split("\n") if line.strip()), type(error).__name__)
    if "trust_remote_code" in str(error):
        return "it brings its own code; if you trust it, add --trust-remote-code LABEL"
    return reason


def _parameters(folder: Path) -> int | None:
    """Count the floating-point numbers in the safetensors headers; None where there are none.

    Raises
    ------
    ModelNotFoundError
        For a file that is cut short.
    """
    total = 0
    for name in folder_files(folder):
        if not name.endswith(".safetensors"):
            continue
        try:
            with (folder / name).open("rb") as file:
                size = struct.unpack("<Q", file.read(8))[0]
                header = json.loads(file.read(size))
        except (struct.error, ValueError):
            raise ModelNotFoundError(f"{folder / name}: damaged, or not a safetensors file") from None
        tensors = (t for name, t in header.items() if name != "__metadata__")
        total += sum(prod(t["shape"]) for t in tensors if t["dtype"].startswith(("F", "BF")))
    return total or None
