"""The encoder of exported models, for every runtime: batches of similar length, threads, pooling after the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.base import supported_similarity
from embassay.encoders.exported.graph import KNOWN, Rows, Session, Tokens, feed, text_vectors, unit
from embassay.encoders.exported.model_folder import ExportedFolder
from embassay.encoders.neural.batching import LEAST, TOKENS, batches, encode_distinct, windows
from embassay.encoders.neural.shared import ModelOptions, prompt_options
from embassay.errors import EncoderError, ModelNotFoundError, SpecError
from embassay.samples.base import Role
from embassay.types import Card, Runtime, content_hash

if TYPE_CHECKING:
    from tokenizers import Tokenizer

ROLES: tuple[Role, ...] = ("text", "query", "document")
PROBE = "A short one."
DERIVED = ("dim", "normalize")
"""Options that are applied to finished vectors, in this order."""


@dataclass(frozen=True)
class ExportedEncoder:
    """An exported model; its graph is loaded when the first text is encoded.

    Attributes
    ----------
    scheme, name
        The parts of the spec: the runtime, and the folder.
    open
        Loads the graph.
    options
        The options that were set, by name.
    """

    scheme: str
    name: str
    folder: ExportedFolder
    runtime: Runtime = field(repr=False)
    open: Callable[[], Session] = field(repr=False)
    options: ModelOptions = field(default_factory=ModelOptions)

    @property
    def card(self) -> Card:
        """The properties of the encoder that the folder's files contain."""
        model_similarity = self.folder.similarity
        warnings = list(self.folder.warnings)
        if self._prompts["query"] and not self._prompts["text"]:
            warnings.append(
                "the model has a prompt for queries but none for plain texts; plain texts are encoded without a prompt"
            )
        if model_similarity not in ("cosine", "dot") and "similarity" not in self.options:
            warnings.append(f"the model's similarity {model_similarity!r} is not supported; cosine is used instead")
        spec = [f"{self.scheme}:{self.name}"]
        for name, value in sorted(self.options.items()):
            text = value
            if value is True:
                text = "true"
            spec.append(f"{name}={text}")
        return Card(
            ",".join(spec),
            revision="local folder",
            max_tokens=self._max_tokens,
            prompts={role: prompt for role, prompt in self._prompts.items() if prompt},
            full=self.full,
            warnings=tuple(warnings),
            similarity=self.options.get("similarity", supported_similarity(model_similarity)),
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the runtime, of all files that vectors depend on, and of all options that change vectors."""
        files = {name: self.runtime.sha256(self.folder.path / name) for name in self.folder.files}
        settings = {name: self.options.get(name) for name in ("dim", "normalize", "max_length", "pooling", "file")}
        return content_hash([self.scheme, files, self._prompts, settings])

    def fit(self, texts: Sequence[str]) -> ExportedEncoder:
        """Return itself: nothing is learnt."""
        return self

    def encode(self, texts: Sequence[str], role: Role = "text") -> Rows:
        """Return (n, d) float32, each text with its role's prompt; equal texts are encoded once."""
        if not texts:
            return np.zeros((0, self.folder.dim or 1), dtype=np.float32)
        return encode_distinct(texts, lambda distinct: self.batches(distinct, role))

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[tuple[NDArray[np.int64], Rows]]:
        """Yield (indices into ``texts``, their (m, d) float32 vectors) of each batch, longest texts first.

        Raises
        ------
        EncoderError
            If the graph cannot be loaded or run, or its vectors have other dimensions than the folder's record.
        """
        # This loads and checks the graph before the first text is encoded.
        dim = self._dim
        prompt = self._prompts[role]
        for window in windows(texts):
            prompted = [prompt + texts[n] for n in window]
            for places, rows in self._window(prompted):
                if rows.shape[1] != dim:
                    raise EncoderError(
                        f"{self.folder.graph}: a batch has {rows.shape[1]} dimensions, earlier batches have {dim}"
                    )
                yield window[places], rows

    def count_tokens(self, texts: Sequence[str], role: Role) -> NDArray[np.int64]:
        """Return the number of tokens of each text before truncation, prompt and special tokens included."""
        prompt = self._prompts[role]
        tokens = self._tokens(self._load_tokenizer(None), [prompt + text for text in texts])
        return np.array([len(ids) for ids, _ in tokens], dtype=np.int64)

    @cached_property
    def full(self) -> ExportedEncoder | None:
        """The same model without the options that are applied to finished vectors; None where there are none."""
        remaining = {name: value for name, value in self.options.items() if name not in DERIVED}
        if len(remaining) == len(self.options):
            return None
        return replace(self, options=cast("ModelOptions", remaining))

    def derive(self, rows: Rows) -> Rows:
        """Return this encoder's vectors from those of :attr:`full`: cut, then scaled to unit length.

        Raises
        ------
        EncoderError
            If the model has fewer dimensions than ``dim``.
        """
        dim = self.options.get("dim")
        # Without texts there may be no column: the model's dimensions are known only after the first batch.
        width = rows.shape[1]
        if dim is not None and len(rows) and width < dim:
            raise EncoderError(f"the model has {width} dimensions, so dim={dim} is too large")
        rows = rows[:, :dim]
        if self.options.get("normalize"):
            return unit(rows)
        return rows

    def prepare(self) -> None:
        """Load the graph and check it with a short text."""
        _ = self._dim

    def route(self) -> Mapping[str, object]:
        """Return how the model runs, for ``run.json``. None of it changes the meaning of a vector."""
        session: Session | None = vars(self).get("_session")
        route: dict[str, object] = {"graph": self.folder.graph.relative_to(self.folder.path).as_posix()}
        if session is not None:
            route.update(session.route)
            route["tokens_per_batch"] = TOKENS["cpu"]
            if session.alone:
                route["tokens_per_batch"] = 1
        return route

    def release(self) -> None:
        """Release the loaded graph; it is loaded again for the next text."""
        vars(self).pop("_session", None)
        vars(self).pop("_dim", None)

    @cached_property
    def _prompts(self) -> Mapping[Role, str]:
        configured = {role: self.folder.prompts.get(role, "") for role in ROLES}
        return {**configured, **prompt_options(self.options)}

    @property
    def _max_tokens(self) -> int | None:
        """The number of tokens after which texts are truncated; None for no limit."""
        limits = (self.options.get("max_length"), self.folder.max_length)
        return min((limit for limit in limits if limit), default=None)

    @cached_property
    def _session(self) -> Session:
        """The loaded graph.

        Raises
        ------
        EncoderError
            If it has inputs that cannot be made from texts.
        """
        session = self.open()
        unknown = sorted(session.inputs - KNOWN)
        if unknown:
            raise EncoderError(f"{self.folder.graph}: unsupported inputs {', '.join(unknown)}")
        return session

    @cached_property
    def _dim(self) -> int:
        """The number of dimensions of the vectors, found by encoding a short text and checked against the folder."""
        tokens = self._tokens(self._tokenizer, [PROBE])
        whole = self._run(tokens).shape[1]
        if self.folder.dim is not None and self.folder.dim != whole:
            raise EncoderError(
                f"{self.folder.graph}: the vectors have {whole} dimensions, but the folder's configuration says "
                f"{self.folder.dim}; export the model again"
            )
        dim: int = self.options.get("dim", whole)
        if dim > whole:
            raise EncoderError(f"the model has {whole} dimensions, so dim={dim} is too large")
        return dim

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return self._load_tokenizer(self._max_tokens)

    def _load_tokenizer(self, limit: int | None) -> Tokenizer:
        """Load the tokenizer; it truncates texts after ``limit`` tokens if that is not None."""
        from tokenizers import Tokenizer

        path = self.folder.path / "tokenizer.json"
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:
            raise ModelNotFoundError(f"{path}: damaged or not a tokenizer: {error}") from None
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if limit:
            special = len(tokenizer.encode("").ids)
            if limit <= special:
                raise SpecError(
                    f"encoder '{self.scheme}:{self.name}', option 'max_length': must be more than {special}, "
                    "the number of "
                    "special tokens in every text"
                )
            tokenizer.enable_truncation(limit)
        return tokenizer

    def _tokens(self, tokenizer: Tokenizer, texts: Sequence[str]) -> list[Tokens]:
        """Return the tokens of texts, which include their prompts."""
        if self.folder.lower:
            texts = [text.lower() for text in texts]
        return [(encoding.ids, encoding.type_ids) for encoding in tokenizer.encode_batch(list(texts))]

    def _window(self, texts: Sequence[str]) -> Iterator[tuple[NDArray[np.int64], Rows]]:
        """Yield (indices, vectors) of a window of texts; several threads share its batches."""
        session = self._session
        tokens = self._tokens(self._tokenizer, texts)
        lengths = [len(ids) for ids, _ in tokens]
        # If there are few texts, batches are smaller, so that every thread has one.
        limit = min(TOKENS["cpu"], max(LEAST, sum(lengths) // session.threads))
        if session.alone:
            limit = 1
        with ThreadPoolExecutor(session.threads) as pool:
            planned = list(batches(lengths, lambda: limit))
            futures = [pool.submit(self._forward, [tokens[n] for n in places]) for places in planned]
            try:
                for places, future in zip(planned, futures, strict=True):
                    yield places, future.result()
            finally:
                for future in futures:
                    future.cancel()

    def _forward(self, tokens: Sequence[Tokens]) -> Rows:
        """Return the (n, d) vectors of tokenised texts, cut to ``dim`` and scaled as the options say."""
        rows = self._run(tokens)
        if not np.isfinite(rows).all():
            raise EncoderError(f"{self.folder.graph}: the vectors contain NaN or infinity")
        return self.derive(rows)

    def _run(self, tokens: Sequence[Tokens]) -> Rows:
        """Return the (n, d) vectors of tokenised texts with all dimensions, not scaled by the options."""
        inputs = feed(tokens, self.folder.pad)
        session = self._session
        try:
            outputs = session({name: array for name, array in inputs.items() if name in session.inputs})
        except Exception as error:
            longest = inputs["input_ids"].shape[1]
            raise EncoderError(
                f"{self.folder.graph}: cannot run on a text of {longest} tokens (max_length= truncates texts): "
                f"{' '.join(str(error).split())[:200]}"
            ) from None
        return text_vectors(outputs, inputs["attention_mask"], self.folder)
