"""An exported model, whatever runs it: tokens in batches of like length, a thread for each core, pooling after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.exported.graph import KNOWN, Rows, Session, Tokens, feed, text_vectors, unit
from embassay.encoders.exported.model_folder import ExportedFolder
from embassay.encoders.neural.runner import FIRST, LEAST, TOKENS, WINDOW, batches
from embassay.errors import EncoderError, ModelNotFoundError, SpecError
from embassay.samples.base import Role
from embassay.types import Card, Runtime, content_hash

PROBE = ("A short one.", "A sentence that is rather longer than the other one.")


@dataclass(frozen=True)
class ExportedEncoder:
    """An exported model that is loaded when it is first needed.

    Attributes
    ----------
    scheme, name
        What runs it, and its folder, as the spec says them.
    open
        Loads the graph.
    given
        The options that were given, by name.
    """

    scheme: str
    name: str
    folder: ExportedFolder
    runtime: Runtime = field(repr=False)
    open: Callable[[], Session] = field(repr=False)
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def card(self) -> Card:
        """What the folder's files say."""
        own, warnings = self.folder.similarity, list(self.folder.warnings)
        if self._prompts["query"] and not self._prompts["text"]:
            warnings.append("it has a prompt for queries but none for plain texts: plain texts get none")
        if own not in ("cosine", "dot") and "similarity" not in self.given:
            warnings.append(f"it compares by {own}, which is not had here: cosine is used")
        spec = ",".join([f"{self.scheme}:{self.name}", *(f"{k}={_said(v)}" for k, v in sorted(self.given.items()))])
        return Card(
            spec,
            revision="local folder",
            max_tokens=self._max_tokens,
            prompts={role: prompt for role, prompt in self._prompts.items() if prompt},
            warnings=tuple(warnings),
            similarity=self.given.get("similarity") or ("dot" if own == "dot" else "cosine"),
        )

    @cached_property
    def fingerprint(self) -> str:
        """A hash of what runs it, of every file that its vectors depend on, and of what else changes them."""
        files = {name: self.runtime.sha256(self.folder.path / name) for name in self.folder.files}
        settings = {k: self.given.get(k) for k in ("dim", "normalize", "max_length", "pooling", "file")}
        return content_hash([self.scheme, files, self._prompts, settings])

    def fit(self, texts: Sequence[str]) -> ExportedEncoder:
        """Return itself: nothing is learnt."""
        return self

    def encode(self, texts: Sequence[str], role: Role = "text") -> Rows:
        """Return (n, d) float32, each text with its role's prompt; equal texts are encoded once."""
        row = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        matrix = np.zeros((len(row), self._dim if row else self.folder.dim or 1), dtype=np.float32)
        for places, rows in self.batches(list(row), role):
            matrix[places] = rows
        return matrix[[row[text] for text in texts]]

    def batches(self, texts: Sequence[str], role: Role) -> Iterator[tuple[NDArray[np.int64], Rows]]:
        """Yield (places in ``texts``, their vectors) batch by batch, the longest texts first.

        Raises
        ------
        EncoderError
            If the graph cannot be loaded or run, or gives vectors of other dimensions than its folder promises.
        """
        dim = self._dim  # loads and checks the graph before the first text
        order = np.array(sorted(range(len(texts)), key=lambda n: -len(texts[n])), dtype=np.int64)
        prompt = self._prompts[role]
        starts = [0, *range(FIRST, len(order), WINDOW), len(order)] if len(order) else [0]
        for start, stop in pairwise(starts):
            window = order[start:stop]
            for places, rows in self._window([prompt + texts[n] for n in window]):
                if rows.shape[1] != dim:
                    raise EncoderError(f"{self.folder.graph}: it gave {rows.shape[1]} dimensions, before {dim}")
                yield window[places], rows

    def count_tokens(self, texts: Sequence[str], role: Role) -> NDArray[np.int64]:
        """Return the number of tokens of each text before truncation, prompt and special tokens included."""
        encodings = self._cutter(None).encode_batch([self._worded(self._prompts[role] + text) for text in texts])
        return np.array([len(e.ids) for e in encodings], dtype=np.int64)

    @property
    def route(self) -> Mapping[str, Any]:
        """How it runs, for ``run.json``: nothing of it changes what a vector means."""
        session: Session | None = vars(self).get("_session")
        how = {"graph": self.folder.graph.relative_to(self.folder.path).as_posix()}
        if session is None:
            return how
        return {**how, **session.route, "tokens_per_batch": 1 if session.alone else TOKENS["cpu"]}

    def release(self) -> None:
        """Let go of the loaded graph; the next text loads it again."""
        vars(self).pop("_session", None)
        vars(self).pop("_dim", None)

    @cached_property
    def _prompts(self) -> Mapping[Role, str]:
        roles: tuple[Role, ...] = ("text", "query", "document")
        return {role: self.given.get(f"{role}_prompt", self.folder.prompts.get(role, "")) for role in roles}

    @property
    def _max_tokens(self) -> int | None:
        asked, own = self.given.get("max_length"), self.folder.max_length
        return min(asked, own) if asked and own else asked or own

    @cached_property
    def _session(self) -> Session:
        """The loaded graph.

        Raises
        ------
        EncoderError
            If it takes what texts do not give.
        """
        session = self.open()
        if strange := sorted(session.inputs - KNOWN):
            raise EncoderError(f"{self.folder.graph}: it takes {', '.join(strange)}, which a text does not give")
        return session

    @cached_property
    def _dim(self) -> int:
        """The dimensions of its vectors, by two short texts; what the folder promises is checked."""
        tokens = [(e.ids, e.type_ids) for e in self._tokenizer.encode_batch(list(PROBE))]
        whole = self._raw(tokens[:1]).shape[1]
        if self.folder.dim is not None and self.folder.dim != whole:
            raise EncoderError(
                f"{self.folder.graph}: its vectors have {whole} dimensions, its folder's configuration says "
                f"{self.folder.dim}; export the model again"
            )
        asked: int | None = self.given.get("dim")
        if asked and asked > whole:
            raise EncoderError(f"it has {whole} dimensions, dim={asked} asks for more")
        return asked or whole

    @cached_property
    def _tokenizer(self) -> Any:
        return self._cutter(self._max_tokens)

    def _cutter(self, limit: int | None) -> Any:
        from tokenizers import Tokenizer

        path = self.folder.path / "tokenizer.json"
        try:
            tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:
            raise ModelNotFoundError(f"{path}: damaged, or not a tokenizer: {error}") from None
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if limit and limit <= (signs := len(tokenizer.encode("").ids)):
            raise SpecError(
                f"encoder '{self.scheme}:{self.name}', option 'max_length': {signs} tokens are signs around every "
                f"text; give more than that"
            )
        if limit:
            tokenizer.enable_truncation(limit)
        return tokenizer

    def _worded(self, text: str) -> str:
        return text.lower() if self.folder.lower else text

    def _window(self, texts: Sequence[str]) -> Iterator[tuple[NDArray[np.int64], Rows]]:
        """Yield (places, vectors) of some thousand texts, the batches spread over the threads."""
        session = self._session
        tokens = [(e.ids, e.type_ids) for e in self._tokenizer.encode_batch([self._worded(text) for text in texts])]
        lengths = [len(ids) for ids, _ in tokens]
        most = 1 if session.alone else max(LEAST, sum(lengths) // session.threads)
        todo = list(batches(lengths, _Budget(), most))
        with ThreadPoolExecutor(session.threads) as hands:
            futures = [hands.submit(self._forward, [tokens[n] for n in places]) for places in todo]
            try:
                for places, future in zip(todo, futures, strict=True):
                    yield places, future.result()
            finally:
                for future in futures:
                    future.cancel()

    def _forward(self, tokens: Sequence[Tokens]) -> Rows:
        """Return the (n, d) vectors of tokenised texts, cut and scaled as asked."""
        rows = self._raw(tokens)[:, : self.given.get("dim")]
        if not np.isfinite(rows).all():
            raise EncoderError(f"{self.folder.graph}: it gives vectors with NaN or infinity")
        return unit(rows) if self.given.get("normalize") else rows

    def _raw(self, tokens: Sequence[Tokens]) -> Rows:
        """Return the (n, d) vectors of tokenised texts, as the model itself gives them."""
        inputs = feed(tokens, self.folder.pad)
        session = self._session
        try:
            found = session({name: array for name, array in inputs.items() if name in session.inputs})
        except Exception as error:
            longest = inputs["input_ids"].shape[1]
            raise EncoderError(
                f"{self.folder.graph}: it cannot be run on a text of {longest} tokens (max_length= cuts texts): "
                f"{' '.join(str(error).split())[:200]}"
            ) from None
        return text_vectors(found, inputs["attention_mask"], self.folder)


class _Budget:
    """The most tokens of a batch."""

    tokens = TOKENS["cpu"]


def _said(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
