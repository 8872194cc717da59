"""Loading a transformers model, the part of it that encodes, and its tokenizer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from embassay.core.errors import EncoderError
from embassay.models.neural.devices import available_device, device_map
from embassay.models.neural.hf_files import ModelKind
from embassay.models.neural.library_messages import quiet, reason
from embassay.models.neural.weights import tensor_shapes

if TYPE_CHECKING:
    from transformers import AutoModel, PreTrainedModel, PreTrainedTokenizerBase

UNUSED = ("pooler", "lm_head", "position_ids")
"""Parts of the names of tensors that may be missing, because no vector depends on them."""
MAX_SHOWN = 3
"""Number of missing tensors that a message names."""


def load_tokenizer(folder: Path, code: bool) -> PreTrainedTokenizerBase:
    """Load a tokenizer without a limit, so that it does not warn of long texts.

    Parameters
    ----------
    code
        Whether its own code may run.

    Raises
    ------
    EncoderError
        If it cannot be loaded.
    """
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(str(folder), trust_remote_code=code, local_files_only=True)
    except Exception as error:
        raise EncoderError(f"the tokenizer cannot be loaded: {reason(error)}") from error
    tokenizer.model_max_length = int(1e30)
    return tokenizer


def load_model(folder: Path, kind: ModelKind, dtype: str, code: bool, device: str) -> PreTrainedModel:
    """Load the encoding part of a model, in evaluation mode.

    Parameters
    ----------
    code
        Whether its own code may run.
    device
        A device, or ``auto``.

    Raises
    ------
    EncoderError
        If it cannot be loaded, the device is not available, or weights are missing, which the library would initialise
        randomly.
    """
    placed = device_map(device)
    try:
        with quiet("transformers"):
            model, info = _library_class(folder, kind, code).from_pretrained(
                str(folder),
                dtype=dtype,
                trust_remote_code=code,
                local_files_only=True,
                output_loading_info=True,
                device_map=placed,
            )
            if kind == "both" and hasattr(model, "get_decoder"):
                model = model.get_encoder()
            model = getattr(model, "base_model", model)
            model.eval()
            if not placed:
                model.to(available_device(device))
    except EncoderError:
        raise
    except Exception as error:
        raise EncoderError(f"the model cannot be loaded: {reason(error)}") from error
    check_whole(info)
    model.config.use_cache = False
    return model


def check_whole(info: Mapping[str, Iterable[str]]) -> None:
    """Raise an error if weights were initialised randomly because the model's files lack them.

    Parameters
    ----------
    info
        The library's report on the loading.

    Raises
    ------
    EncoderError
        With the number of missing weights and the names of the first ones.
    """
    missing = sorted(filter(_is_used, info.get("missing_keys", ())))
    if missing:
        first = ", ".join(missing[:MAX_SHOWN])
        raise EncoderError(f"{len(missing)} of the model's weights are missing from its files (first: {first})")


def check_pooler(model: PreTrainedModel, folder: Path) -> None:
    """Raise an error if a loaded model has no pooling layer, or its files lack its weights.

    Pickled weights, whose names are not read, are trusted.

    Raises
    ------
    EncoderError
        In these cases.
    """
    stored = tensor_shapes(folder)
    if getattr(model, "pooler", None) is None or (stored and not any("pooler." in name for name in stored)):
        raise EncoderError("pooling=pooler cannot be used: the model has no weights of a pooling layer")


def check_stored(model: PreTrainedModel, folder: Path) -> None:
    """Raise an error if weights of a loaded model are missing from the files of its folder.

    A name may also be absent because the weight is tied to another one or was renamed. Only the library knows that, so
    if a name is absent, the library loads the model once more, with accelerate without its values.

    Raises
    ------
    EncoderError
        With the number of missing weights and the names of the first ones.
    """
    stored = frozenset(tensor_shapes(folder))
    prefix = f"{model.base_model_prefix}."
    missing = list[str]()
    for name in filter(_is_used, model.state_dict()):
        # The files of a model with a head have the name of the base model before each name.
        is_stored = stored & {name, prefix + name, name.removeprefix(prefix)}
        if not is_stored:
            missing.append(name)
    if not missing:
        return
    try:
        with quiet("transformers"):
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


def _is_used(name: str) -> bool:
    return not any(part in name for part in UNUSED)


def _library_class(folder: Path, kind: ModelKind, code: bool) -> type[AutoModel]:
    """Return the class of the library that loads the encoding part of a model."""
    import transformers
    from transformers.models.auto.modeling_auto import MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES

    config = transformers.AutoConfig.from_pretrained(str(folder), trust_remote_code=code, local_files_only=True)
    own_classes = getattr(config, "auto_map", None)
    architectures = [str(name) for name in config.architectures or ()]
    is_encoder_half = kind == "both" or any(name.endswith("EncoderModel") for name in architectures)
    library_class: type[AutoModel] = transformers.AutoModel
    if code and own_classes:
        for name in ("AutoModel", "AutoModelForCausalLM", "AutoModelForMaskedLM"):
            if name in own_classes:
                library_class = getattr(transformers, name)
                break
    elif is_encoder_half and config.model_type in MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES:
        # The encoder without its decoder.
        library_class = transformers.AutoModelForTextEncoding
    return library_class
