"""A transformers model by name, or ./folder: encoder, decoder, or the encoder half of T5.

Its hidden states are pooled as the options say. The configuration of sentence-transformers (modules, prompts, length)
is ignored; the scheme ``st:`` uses it. The model is loaded when the first text is encoded.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from embassay.core.errors import EncoderError, ModelNotFoundError, SpecError
from embassay.core.types import Runtime, hashes_of
from embassay.core.vectors import Similarity
from embassay.models.base import changed_options
from embassay.models.light.architecture import FAMILIES
from embassay.models.limits import Count
from embassay.models.neural.library import UNUSED, LibraryRunner, available_device, check_weights, quiet
from embassay.models.neural.locations import find_tokenizer
from embassay.models.neural.model import Model, configured_model
from embassay.models.neural.model_files import folder_files, read_json
from embassay.models.neural.modules import transformer_limit, transformer_of

if TYPE_CHECKING:
    from torch.nn import Module
    from transformers import PreTrainedTokenizerBase

EXTRA = "hf"
REQUIRES = ("torch", "transformers", "sentence_transformers")
TARGET = "MODEL or ./FOLDER"
Pooling = Literal["mean", "cls", "max", "last", "mask", "pooler"]
POOLINGS = {"mean": "mean", "cls": "cls", "max": "max", "last": "lasttoken"}
"""The poolings that are modules of sentence-transformers, by their names here."""


def create(
    target: str,
    runtime: Runtime,
    *,
    pooling: Pooling | None = None,
    layer: int | None = None,
    template: str = "",
    tokenizer: str = "",
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
) -> Model:
    """Find the model's files and describe it; nothing is loaded yet.

    Parameters
    ----------
    pooling
        What a text's vector is: the ``mean`` or ``max`` of its tokens, its first (``cls``) or ``last`` token, the first
        after the model's ``pooler`` layer, or the ``mask`` token of the template (Jiang et al. 2022, PromptBERT); the
        last of a decoder, else the mean.
    layer
        Layer whose hidden states are used: -1 is the last layer (default), 0 the embeddings, 1 the first layer.
    template
        Template for each text, inserted at ``{text}`` after its prompt: ``This sentence : "{text}" means [MASK] .``
        A text that is too long with it is an error, because truncation would cut the template.
    tokenizer
        The model or folder to take the tokenizer from, if the model has none.
    revision
        A branch, tag or commit of the hub's repository.
    query_prompt, document_prompt, text_prompt
        Prompt put before each text of that role.
    max_length
        Truncate texts after this many tokens; by default the tokenizer's limit, at most the model's positions.
    dim
        Keep only this many leading dimensions.
    dtype
        Precision of the weights and of the arithmetic.
    device
        Where to run: ``cpu``, ``cuda:0`` …; the run's device by default.
    normalize
        Scale vectors to unit length.
    similarity
        Similarity of queries and documents; cosine by default.

    Raises
    ------
    ModelNotFoundError
        If model or tokenizer are not available, or the folder is no transformers model.
    SpecError
        If the template has no place for a text, layer and pooling do not fit each other, or the model needs code of its
        own.
    """
    options = changed_options(create, **locals())
    place = f"encoder {target!r}"
    if runtime.backend == "light":
        raise SpecError(f"{place}: hf: runs with torch only; leave --backend out")
    if template and template.count("{text}") != 1:
        raise SpecError(f"{place}, option 'template': must contain {{text}} exactly once, is {template!r}")
    if pooling == "pooler" and layer is not None:
        raise SpecError(f"{place}: pooling=pooler is computed from the last layer; leave layer out")
    model = configured_model("SentenceTransformer", "hf", target, runtime, options)
    folder = transformer_of(model.found.folder)
    tokens = find_tokenizer(tokenizer) if tokenizer else folder
    kind = _kind(folder)
    notes = []
    if pooling is None:
        pooling = "last" if kind == "a decoder" else "mean"
        notes.append(f"pooling={pooling} is used by default, because the model is {kind}")
    if (model.found.folder / "modules.json").is_file():
        notes.append("hf: ignores the pooling, prompts and length configured for sentence-transformers; st: uses them")
    return replace(
        model,
        tokens=tokens,
        own_prompts={},
        missing_prompts="",
        limit=transformer_limit(folder, tokens, max_length),
        open=_load,
        similarity="cosine",
        settings={
            "pooling": pooling,
            "layer": -1 if layer is None else layer,
            "template": template or "{text}",
            "tokenizer": hashes_of(tokens, folder_files(tokens)) if tokenizer else None,
        },
        warnings=(*notes, *model.warnings),
    )


def _kind(folder: Path) -> str:
    """Return what a model is, for messages: an encoder, a decoder, or both.

    Raises
    ------
    ModelNotFoundError
        If it is no model of transformers.
    """
    config = read_json(folder / "config.json")
    if not {"model_type", "architectures", "auto_map"} & config.keys():
        raise ModelNotFoundError(
            f"{folder}: not a transformers model: its config.json names neither model_type nor architectures"
        )
    # A model of several kinds of input has the configuration of its text part in an entry of its own.
    config |= config.get("text_config") or {}
    if config.get("is_encoder_decoder"):
        return "an encoder with a decoder, and only the encoder is used"
    model_type, names = config.get("model_type"), config.get("architectures") or ()
    is_decoder = config.get("is_decoder") or any(str(name).endswith("ForCausalLM") for name in names)
    # The library, whose tables tell most decoders, takes seconds to import.
    if not is_decoder and model_type not in (*FAMILIES, "xlnet"):
        from transformers.models.auto import modeling_auto as auto

        is_causal = model_type in auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
        is_decoder = is_causal and model_type not in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    reads_both_ways = config.get("use_bidirectional_attention") or config.get("is_causal") is False
    return "a decoder" if is_decoder and not reads_both_ways else "an encoder"


def _load(model: Model) -> LibraryRunner:
    """Load the model as a transformer and a pooling of sentence-transformers."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling as PoolingModule

    folder = transformer_of(model.found.folder)
    pooling, dtype = model.settings["pooling"], model.options.get("dtype", "float32")
    device = available_device(model.device)
    output: Any = "pooler_output" if pooling == "pooler" else "last_hidden_state"
    if "layer" in model.options:
        output = "hidden_states", model.options["layer"]
    library = {"trust_remote_code": model.runtime.trust_remote_code, "local_files_only": True}
    # A model of its own code may only have a class with a head.
    classes = read_json(folder / "config.json").get("auto_map") or {"AutoModel": ""}
    with quiet():
        transformer = Transformer(
            str(folder),
            transformer_task="feature-extraction" if "AutoModel" in classes else "text-generation",
            model_kwargs={"dtype": dtype, **library},
            processor_kwargs=library,
            config_kwargs=library,
            # Texts of a batch have equal lengths, and a tokenizer may have no token for padding.
            processing_kwargs={"text": {"padding": False}},
            modality_config={"text": {"method": "forward", "method_output_name": output}},
            module_output_name="sentence_embedding" if pooling == "pooler" else "token_embeddings",
            tokenizer_name_or_path=str(model.tokens),
        )
        check_weights(transformer.model, folder, UNUSED if pooling != "pooler" else UNUSED[1:])
    encoder = getattr(transformer.model, "base_model", transformer.model)
    transformer.model = encoder.get_encoder() if encoder.config.is_encoder_decoder else encoder
    # Configurations of a model's own code may have another name for it.
    layer = model.settings["layer"]
    layers = getattr(transformer.model.config, "num_hidden_layers", abs(layer))
    if not -layers - 1 <= layer <= layers:
        raise EncoderError(f"layer={layer}: must be from {-layers - 1} to {layers}; 0 is the embeddings")
    if pooling == "pooler" and getattr(encoder, "pooler", None) is None:
        raise EncoderError("pooling=pooler cannot be used: the model has no pooling layer")
    transformer.transformer_task = "feature-extraction"
    transformer.tokenizer.model_input_names = ["input_ids", "attention_mask"]
    later = []
    if pooling == "mask":
        later = [_mask_pooling(model.settings["template"], transformer.tokenizer)]
    elif pooling != "pooler":
        later = [PoolingModule(transformer.get_embedding_dimension(), POOLINGS[pooling])]
    loaded = SentenceTransformer(modules=[transformer, *later], device=device)
    return LibraryRunner(loaded, model.limit, truncates="template" not in model.options)


def _mask_pooling(template: str, tokenizer: PreTrainedTokenizerBase) -> Module:
    """Return the module that takes the vector of a template's mask token (Jiang et al. 2022, section 3)."""
    import torch

    mask = tokenizer.mask_token
    if mask is None or template.count(mask) != 1:
        raise EncoderError(
            f"pooling=mask needs a template with the tokenizer's mask token ({mask}) exactly once, for example "
            f'template=This sentence : "{{text}}" means {mask} .'
        )

    # No text is padded, and each has the same number of tokens before or after the template's mask token. A text may
    # contain the mask token, too.
    ids = tokenizer(template.replace("{text}", ""))["input_ids"]
    place = ids.index(tokenizer.mask_token_id)
    if mask not in template.partition("{text}")[0]:
        place -= len(ids)

    class MaskPooling(torch.nn.Module):  # type: ignore[misc]
        def forward(self, features: dict[str, Any]) -> dict[str, Any]:
            return {**features, "sentence_embedding": features["token_embeddings"][:, place]}

    return MaskPooling()
