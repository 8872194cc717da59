"""How a model that reads tokens is run: tokenised once, in batches of so many tokens, without padding where it can.

Four routes, of which the fastest that gives what each text gives alone is taken:

``packed``
    Texts one after the other without any padding (``_packed``), a batch on each core.
``padded``
    Texts sorted by their number of tokens, so that little is padded: on the side that the tokenizer says, or on the
    right where that changes vectors.
``unpadded``
    Texts of one length at a time, for models that padding changes.
``sentence-transformers``
    The model's own ``encode``, for models whose input is more than tokens; one text at a time where company changes
    vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby, pairwise
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.neural.company import Ids, border_of, groups
from embassay.encoders.neural.packed import PackedBert
from embassay.engine.cores import cores, single_threads
from embassay.errors import EncoderError

Route = Literal["packed", "padded", "unpadded", "sentence-transformers"]
ROUTES: tuple[Route, ...] = ("packed", "padded", "unpadded", "sentence-transformers")
WINDOW = 8_192
"""Texts that are tokenised and sorted together; the next ones are tokenised meanwhile."""
FIRST = 512
"""Texts of the first window, which nothing can be done before."""
CHUNK = 256
"""Texts handed to the tokenizer at a time."""
AS_THEY_ARE = {"text": {"padding": False}, "common": {"return_tensors": None}}
"""What makes sentence-transformers return token ids of unequal numbers."""
TOKENS = {"cpu": 1_024}
TOKENS_ON_DEVICE = 16_384
"""Tokens of a batch; halved where memory does not suffice."""
LEAST = 128
"""Tokens of a batch that is worth a core of its own."""
SMALLER = 8
"""How many times smaller than the others the last batches may be."""
LONGER = "A longer sentence, of rather more words than the two that stand before it here."
PROBES = ("No.", "It is not open.", LONGER, " ".join([LONGER] * 6))
COMPANY = tuple(" ".join(["It is not open."] * n) for n in (1, 2, 3, 5, 8, 13, 21))
"""Texts of other lengths, among which the probes must have the vectors that they have alone."""
AGREE = {"float32": 1e-11, "bfloat16": 1e-3, "float16": 1e-3}
"""How far a route may be from the model itself: 1 − cosine."""
TOGETHER = 32
"""Texts that sentence-transformers encodes at a time, where they do not change each other."""
KEYS = {"input_ids", "attention_mask", "token_type_ids"}
Rows = NDArray[np.float32]


class Runs(Protocol):
    """A loaded model on one device that texts can be handed to: what :func:`run` needs of it."""

    model: Any
    route: Any
    tokens: int
    batch_invariant: bool

    def tokenize(self, texts: Sequence[str], prompt: str) -> list[Ids]:
        """Return the token ids of each text, cut to what the model reads, without padding."""
        ...

    def forward(self, ids: Sequence[Ids]) -> Rows:
        """Return the (n, d) vectors of tokenised texts."""
        ...

    def whole(self, texts: Sequence[str], prompt: str) -> Rows:
        """Return the (n, d) vectors of texts, whatever they are made into."""
        ...


@dataclass
class Runner:
    """A loaded model on one device, and how it is run.

    Attributes
    ----------
    route
        One of ``ROUTES``.
    tokens
        The most tokens of a batch.
    side
        Where batches are padded.
    together
        Texts that the model's own ``encode`` is given at a time.
    batch_invariant
        Whether a text has the same vector in every batch, bit by bit.
    """

    model: Any
    normalize: bool = False
    dim: int | None = None
    route: Route = "sentence-transformers"
    tokens: int = 0
    side: str = "right"
    together: int = 1
    packed: Any = field(default=None, repr=False)
    batch_invariant: bool = False

    @classmethod
    def of(
        cls, model: Any, dtype: str, prompts: Sequence[str], forced: str, normalize: bool, dim: int | None
    ) -> Runner:
        """Take the first route that gives what each of four texts gives alone with each prompt, or the forced one.

        Raises
        ------
        EncoderError
            If the forced route is not for this model, or it cannot be run on texts.
        """
        tokens = TOKENS.get(str(model.device).partition(":")[0], TOKENS_ON_DEVICE)
        try:
            alone = {prompt: cls(model, normalize, dim).whole(PROBES, prompt) for prompt in prompts}
        except (RuntimeError, TypeError, ValueError, AttributeError, KeyError, IndexError) as error:
            raise EncoderError(f"it cannot be run on texts: {type(error).__name__}: {error}") from error
        for route, side in _candidates(model):
            found = cls(model, normalize, dim, route, tokens, side)
            if forced in ("auto", route) and found._works(alone, AGREE[dtype]):
                found.batch_invariant = is_batch_invariant(found, prompts[0] if prompts else "")
                return found
        raise EncoderError(f"the backend {forced!r} is not for this model; leave --backend out")

    def tokenize(self, texts: Sequence[str], prompt: str) -> list[Ids]:
        """Return the token ids of each text, cut to what the model reads, without padding."""
        found: list[Ids] = []
        for start in range(0, len(texts), CHUNK):
            chunk = list(texts[start : start + CHUNK])
            features = self.model.preprocess(chunk, prompt=prompt or None, processing_kwargs=AS_THEY_ARE)
            found += [np.array(ids, dtype=np.int32) for ids in features["input_ids"]]
        return found

    def forward(self, ids: Sequence[Ids]) -> Rows:
        """Return the (n, d) vectors of tokenised texts; where memory does not suffice, in halves."""
        return within_memory(self, ids, self._rows)

    def whole(self, texts: Sequence[str], prompt: str) -> Rows:
        """Return the (n, d) vectors by the model's own ``encode``."""
        rows = self.model.encode(
            list(texts),
            batch_size=self.together,
            prompt=prompt,  # the empty one too: without one the library puts in the model's default
            convert_to_tensor=True,
            show_progress_bar=False,
        )
        return self._finished(rows)

    def _works(self, alone: Mapping[str, Rows], within: float) -> bool:
        """Say whether the route gives the vectors that four texts have alone with each prompt."""
        if self.route == "sentence-transformers":
            self.together = TOGETHER
            same = self._border is None and all(agree(self.whole(PROBES, p), own, within) for p, own in alone.items())
            self.together = TOGETHER if same else 1
            return True
        try:
            if self.route == "packed":
                if not PackedBert.fits(self.model[0].model):
                    return False
                self.packed = PackedBert(self.model[0].model)
            return all(
                self._only_tokens(prompt) and agree(self.forward(self.tokenize(PROBES, prompt)), own, within)
                for prompt, own in alone.items()
            )
        except (EncoderError, RuntimeError, AttributeError, KeyError, TypeError, ValueError, NotImplementedError):
            return False

    @cached_property
    def _border(self) -> int | None:
        return border_of(getattr(getattr(self.model[0], "model", None), "config", None))

    def _only_tokens(self, prompt: str) -> bool:
        """Say whether tokens are all that the model is given: no images, no place where a prompt ends."""
        if any(getattr(module, "include_prompt", True) is False for module in self.model):
            return False
        features = self.model.preprocess(list(PROBES), prompt=prompt or None)
        return {name for name, value in features.items() if hasattr(value, "shape")} <= KEYS

    def _rows(self, ids: Sequence[Ids]) -> Rows:
        if self.route == "packed":
            return self._finished(self._packed(ids))
        return self._finished(in_groups(ids, groups(ids, self.route == "unpadded", self._border), self._padded))

    def _packed(self, ids: Sequence[Ids]) -> Any:
        """Return the vectors of tokenised texts; texts of equal length go together, so that nothing is padded.

        Pooled together with padding, a text's sum would depend on the longest text of its batch in the last bits.
        """
        import torch

        order = sorted(range(len(ids)), key=lambda n: len(ids[n]))
        tokens = self.packed([ids[n] for n in order])
        rows = [self._pooled(torch.stack(list(same))) for _, same in groupby(tokens, key=len)]
        return torch.cat(rows)[torch.tensor(np.argsort(order))]

    def _pooled(self, embeddings: Any) -> Any:
        """Return the (n, d) vectors of (n, length, d) token embeddings by the modules after the transformer."""
        import torch

        mask = torch.ones(embeddings.shape[:2], dtype=torch.long)
        features = {"token_embeddings": embeddings, "attention_mask": mask}
        for module in list(self.model)[1:]:
            features = module(features)
        return features["sentence_embedding"]

    def _padded(self, ids: Sequence[Ids]) -> Any:
        tokens = {"input_ids": [row.tolist() for row in ids]}
        batch = self.model.tokenizer.pad(tokens, padding_side=self.side, return_tensors="pt")
        features = {name: value.to(self.model.device) for name, value in batch.items() if name in KEYS}
        return self.model(features)["sentence_embedding"]

    def _finished(self, rows: Any) -> Rows:
        return finished(rows, self.dim, self.normalize, self.model.dtype)


def _candidates(model: Any) -> Iterator[tuple[Route, str]]:
    """Yield (route, side that is padded), the fastest first."""
    own = getattr(getattr(model, "tokenizer", None), "padding_side", "right")
    yield "packed", own
    yield "padded", own
    if own != "right":
        yield "padded", "right"
    yield "unpadded", own
    yield "sentence-transformers", own


def run(runners: Sequence[Runs], texts: Sequence[str], prompt: str) -> Iterator[tuple[NDArray[np.int64], Rows]]:
    """Yield (places in ``texts``, their vectors) batch by batch, the longest texts first.

    Parameters
    ----------
    runners
        The same model on one or several devices, which share the batches.
    """
    if runners[0].route == "sentence-transformers":  # tokens are not all that it takes, so only one device is used
        for start in range(0, len(texts), CHUNK):
            chunk = texts[start : start + CHUNK]
            yield np.arange(start, start + len(chunk)), runners[0].whole(chunk, prompt)
        return
    order = sorted(range(len(texts)), key=lambda n: -len(texts[n]))
    starts = [0, *range(FIRST, len(order), WINDOW), len(order)]
    windows = [order[start:stop] for start, stop in pairwise(starts) if start < stop]
    with ThreadPoolExecutor(1) as ahead:
        coming = [ahead.submit(runners[0].tokenize, [texts[n] for n in window], prompt) for window in windows[:1]]
        for number, window in enumerate(windows):
            ids = coming.pop().result()
            if number + 1 < len(windows):
                coming.append(ahead.submit(runners[0].tokenize, [texts[n] for n in windows[number + 1]], prompt))
            for places, rows in _shared(runners, ids):
                yield np.array(window)[places], rows


def is_batch_invariant(runner: Runs, prompt: str) -> bool:
    """Say whether texts have the same vectors alone, together and among others, bit by bit.

    Only the packed route on a CPU can have this property. Elsewhere products are chosen by the shape of the batch, so
    that a few probes would prove nothing.
    """
    if runner.route != "packed":
        return False

    def encoded(texts: Sequence[str]) -> Rows:
        rows: dict[int, Any] = {}
        for places, vectors in run([runner], texts, prompt):
            rows.update(zip(places.tolist(), vectors, strict=True))
        return np.stack([rows[place] for place in range(len(texts))])

    alone = np.concatenate([encoded([text]) for text in PROBES])
    together = encoded(PROBES)
    among_others = encoded([*COMPANY, *PROBES])[len(COMPANY) :]
    return np.array_equal(alone, together) and np.array_equal(alone, among_others)


def within_memory(runner: Runs, ids: Sequence[Ids], rows_of: Callable[[Sequence[Ids]], Rows]) -> Rows:
    """Return the (n, d) vectors that a function makes of tokenised texts; where memory does not suffice, in halves.

    Raises
    ------
    EncoderError
        If a single text does not fit.
    """
    import torch

    try:
        with torch.inference_mode():
            return rows_of(ids)
    except (RuntimeError, MemoryError) as error:
        if not _out_of_memory(error):
            raise
        if len(ids) < 2:
            raise EncoderError(f"a text of {len(ids[0]):,} tokens does not fit into memory; say max_length=") from None
    # By what this batch was: of several threads that fail together each comes to the same.
    runner.tokens = max(1, min(runner.tokens, len(ids) * max(map(len, ids)) // 2))
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    middle = len(ids) // 2
    return np.concatenate([within_memory(runner, half, rows_of) for half in (ids[:middle], ids[middle:])])


def in_groups(ids: Sequence[Ids], parts: Iterable[list[int]], rows_of: Callable[[Sequence[Ids]], Any]) -> Any:
    """Return the (n, d) tensor of the vectors that a function makes of tokenised texts, one group after the other."""
    import torch

    places = list(parts)
    rows = torch.cat([rows_of([ids[n] for n in part]) for part in places])
    return rows[torch.tensor(np.argsort(np.concatenate(places)), device=rows.device)]


def finished(rows: Any, dim: int | None, normalize: bool, dtype: Any) -> Rows:
    """Cut a tensor to the dimensions asked for and scale it, as sentence-transformers' own ``encode`` does.

    Raises
    ------
    EncoderError
        If that leaves numbers that are not finite, as half precision may: ``dtype`` is that of the model.
    """
    import torch

    rows = rows[:, :dim] if dim else rows
    rows = torch.nn.functional.normalize(rows, p=2, dim=1) if normalize else rows
    found = np.asarray(rows.float().cpu().numpy(), dtype=np.float32)
    if not np.isfinite(found).all():
        wider = "; say dtype=float32" if dtype in (torch.float16, torch.bfloat16) else ""
        raise EncoderError(f"it gives numbers that are not finite{wider}")
    return found


def _shared(runners: Sequence[Runs], ids: Sequence[Ids]) -> Iterator[tuple[NDArray[np.int64], Rows]]:
    """Yield (places, vectors) of tokenised texts, batches handed out to the runners as they become free."""
    lengths = [len(row) for row in ids]
    crew = _crew(runners, sum(lengths))
    todo = batches(lengths, runners[0], crew=len(crew))
    packed = crew[0].route == "packed"
    if len(crew) == 1 and not packed:
        for places in todo:
            yield places, crew[0].forward([ids[n] for n in places])
        return
    # Where they share the processor, each has one thread and no more. One that works alone has one too: a library that
    # divides a product among threads may add up in another order.
    with single_threads(len(crew)) if packed else ThreadPoolExecutor(len(crew)) as pool:
        busy: dict[int, tuple[NDArray[np.int64], Future[Rows]]] = {}
        for number, runner in enumerate(crew):
            _hand_out(pool, busy, number, runner, todo, ids)
        while busy:
            wait([future for _, future in busy.values()], return_when=FIRST_COMPLETED)
            number = next(n for n, (_, future) in busy.items() if future.done())
            places, future = busy.pop(number)
            try:
                rows = future.result()
            finally:
                # What went wrong would hold this frame, and this frame the model, until the next collection.
                del future
            _hand_out(pool, busy, number, crew[number], todo, ids)
            yield places, rows


def _crew(runners: Sequence[Runs], tokens: int) -> Sequence[Runs]:
    """Return who shares the batches: the devices, or one runner once for each core that there is work for."""
    if len(runners) > 1 or runners[0].route != "packed":
        return runners
    return [runners[0]] * max(1, min(cores(), tokens // LEAST))


def _hand_out(
    pool: ThreadPoolExecutor,
    busy: dict[int, tuple[NDArray[np.int64], Future[Rows]]],
    number: int,
    runner: Runs,
    todo: Iterator[NDArray[np.int64]],
    ids: Sequence[Ids],
) -> None:
    """Give a runner its next batch, if there is one."""
    if (places := next(todo, None)) is not None:
        busy[number] = places, pool.submit(runner.forward, [ids[n] for n in places])


def batches(lengths: Sequence[int], budget: Any, most: int | None = None, crew: int = 1) -> Iterator[NDArray[np.int64]]:
    """Yield places of texts, the longest first, so many that their tokens stay within ``budget.tokens``; one at least.

    The budget is asked before each batch: it shrinks where memory does not suffice. ``most`` is another limit. Where a
    crew shares them, the last batches get smaller and smaller, so that all end together.
    """
    order = np.argsort([-n for n in lengths], kind="stable")
    start, left = 0, sum(lengths)
    while start < len(order):
        limit = min(budget.tokens, most or budget.tokens)
        if crew > 1:
            limit = min(limit, max(left // (2 * crew), budget.tokens // SMALLER))
        # The longest comes first, so a padded batch takes its length times the number.
        places = order[start : start + max(1, limit // max(lengths[order[start]], 1))]
        yield places
        start += len(places)
        left -= sum(lengths[n] for n in places)


def agree(rows: Rows, own: Rows, within: float) -> bool:
    """Say whether two sets of vectors are the same at unit length."""
    if rows.shape != own.shape or not np.isfinite(rows).all():
        return False
    a, b = (v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-12) for v in (rows.astype(float), own))
    # Of unit vectors, 1 − cosine is half the squared distance.
    return bool(((a - b) ** 2).sum(axis=1).max() / 2 <= within)


def _out_of_memory(error: BaseException) -> bool:
    text = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in text or "can't allocate memory" in text
