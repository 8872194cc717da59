"""Loading a transformers model, the part of it that encodes, and its tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from embassay.encoders.neural.hf_files import Kind
from embassay.encoders.neural.memory import tensor_names
from embassay.encoders.neural.shared import quiet, reason
from embassay.errors import EncoderError

if TYPE_CHECKING:
    from transformers import AutoModel, PreTrainedModel, PreTrainedTokenizerBase

AUTO_MAP = "auto-map"
"""The device that spreads a model over all GPUs that there are."""
UNUSED = ("pooler", "lm_head", "position_ids")
"""Parts of the names of tensors that no vector depends on: they may be missing."""
SHOWN = 3
"""Names of missing tensors that are shown."""


@dataclass(frozen=True)
class Loading:
    """What is loaded, and how.

    Attributes
    ----------
    folder, tokenizer
        Where the weights and the tokenizer's files are.
    code
        Whether a model's own code may run.
    """

    folder: Path
    tokenizer: Path
    kind: Kind
    dtype: str
    code: bool


def load_tokenizer(how: Loading) -> PreTrainedTokenizerBase:
    """Load a tokenizer, without the limit that it would warn of.

    Raises
    ------
    EncoderError
        If it cannot be loaded.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(str(how.tokenizer), trust_remote_code=how.code, local_files_only=True)
    except Exception as error:
        raise EncoderError(f"the tokenizer cannot be loaded: {reason(error)}") from error
    tokenizer.model_max_length = int(1e30)
    return tokenizer


def load_model(how: Loading, device: str) -> PreTrainedModel:
    """Load the part of a model that encodes, ready to run, onto a device.

    Raises
    ------
    EncoderError
        If it cannot be loaded, or its files lack weights, which the library would make up.
    """
    try:
        with quiet(reports=False):
            model, info = _library_class(how).from_pretrained(
                str(how.folder),
                dtype=how.dtype,
                trust_remote_code=how.code,
                local_files_only=True,
                output_loading_info=True,
                **({"device_map": "auto"} if device == AUTO_MAP else {}),
            )
            if how.kind == "both" and hasattr(model, "get_decoder"):
                model = model.get_encoder()
            model = getattr(model, "base_model", model)
            model = model.eval() if device == AUTO_MAP else model.eval().to(device)
    except Exception as error:
        raise EncoderError(f"the model cannot be loaded: {reason(error)}") from error
    check_whole(info)
    model.config.use_cache = False
    return model


def check_whole(info: Mapping[str, Iterable[str]]) -> None:
    """Refuse weights that the library made up, since its files lack them; ``info`` is what it says of its loading.

    Raises
    ------
    EncoderError
        With their number and the first of them.
    """
    missing = sorted(filter(_is_used, info.get("missing_keys", ())))
    if missing:
        shown = ", ".join(missing[:SHOWN])
        raise EncoderError(f"{len(missing)} of the model's weights are missing from its files (first: {shown})")


def check_stored(model: PreTrainedModel, folder: Path) -> None:
    """Refuse weights of a loaded model that its folder's files lack.

    The library is asked, which loads the model once more (with accelerate without its numbers), only where a name is
    not in the files: weights that are tied to others or have got another name are not either.

    Raises
    ------
    EncoderError
        With their number and the first of them.
    """
    stored = tensor_names(folder)
    prefix = f"{model.base_model_prefix}."
    missing = [
        name
        for name in filter(_is_used, model.state_dict())
        if not stored & {name, prefix + name, name.removeprefix(prefix)}
    ]
    if not missing:
        return
    try:
        with quiet(reports=False):
            options = {"config": model.config, "local_files_only": True, "output_loading_info": True}
            if find_spec("accelerate"):
                options["device_map"] = "meta"
            else:
                options["dtype"] = model.dtype
            _, info = type(model).from_pretrained(str(folder), **options)
    except Exception as error:
        raise EncoderError(
            f"cannot check whether weights are missing from the model's files: {reason(error)}"
        ) from error
    check_whole(info)


def check_limit(limit: int | None, tokenizer: PreTrainedTokenizerBase) -> None:
    """Refuse a limit that leaves no room for the special tokens of a text.

    Raises
    ------
    EncoderError
        With their number.
    """
    least = len(tokenizer("")["input_ids"])
    if limit is not None and limit < least:
        raise EncoderError(
            f"the limit of {limit} tokens is too short: every text has {least} special tokens; set "
            f"max_length={least + 1} or more"
        )


def _is_used(name: str) -> bool:
    return not any(part in name for part in UNUSED)


def _library_class(how: Loading) -> type[AutoModel]:
    """Return the library's class that loads the part of a model that encodes."""
    import transformers
    from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES

    config = transformers.AutoConfig.from_pretrained(str(how.folder), trust_remote_code=how.code, local_files_only=True)
    own_classes = getattr(config, "auto_map", None)
    architectures = [str(name) for name in config.architectures or ()]
    is_encoder_half = how.kind == "both" or any(name.endswith("EncoderModel") for name in architectures)
    library_class: type[AutoModel] = transformers.AutoModel
    if how.code and own_classes:
        for name in ("AutoModel", "AutoModelForCausalLM", "AutoModelForMaskedLM"):
            if name in own_classes:
                library_class = getattr(transformers, name)
                break
    elif is_encoder_half and config.model_type in MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES:
        # The encoder without its decoder.
        library_class = transformers.AutoModelForTextEncoding
    return library_class
