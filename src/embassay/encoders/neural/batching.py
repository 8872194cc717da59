"""Batches of tokenised texts: which texts share a batch, in what order, and on which core or device they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from embassay.engine.cores import cores, single_threads

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedConfig

    from embassay.encoders.light.runner import LightRunner
    from embassay.encoders.neural.runner import Runner

    BatchRunner: TypeAlias = Runner | LightRunner
    """A loaded model on one device, with the route by which it encodes."""

Ids = NDArray[np.int32]
Rows = NDArray[np.float32]
Places = NDArray[np.int64]
WINDOW = 8_192
"""Number of texts that are tokenised and sorted together; meanwhile the next ones are tokenised."""
FIRST = 512
"""Number of texts in the first window, which is small because nothing can be encoded before it is tokenised."""
CHUNK = 256
"""Number of texts per call of the tokenizer, or of a model's own ``encode``."""
FIRST_CHUNK = 16
"""Number of texts in the first call of a model's own ``encode``."""
TOKENS = {"cpu": 1_024}
TOKENS_ON_DEVICE = 16_384
"""Number of tokens in a batch, on the CPU and on other devices; halved when memory runs out."""
LEAST = 128
"""The smallest number of tokens for which another core is used."""
SMALLER = 8
"""The last batches are smaller than the others, at most by this factor."""
ONE_PER_CORE = ("light", "packed")
"""Routes whose batches run side by side on the processor, each with a single thread."""


def run(runners: Sequence[BatchRunner], texts: Sequence[str], prompt: str) -> Iterator[tuple[Places, Rows]]:
    """Yield (indices into ``texts``, their (m, d) vectors) of each batch, longest texts first.

    Parameters
    ----------
    runners
        The same model on one or several devices, which share the batches.
    """
    first = runners[0]
    if first.route == "sentence-transformers":
        # The model does not only read tokens, so its texts are not tokenised here, nor shared among devices.
        # The first chunk is small, so that a slow model shows soon that it works.
        for start, stop in pairwise([0, *range(FIRST_CHUNK, len(texts), CHUNK), len(texts)]):
            yield np.arange(start, stop), first.encode_whole(texts[start:stop], prompt)
        return

    def tokenize(window: Places) -> list[Ids]:
        return first.tokenize([texts[n] for n in window], prompt)

    with ThreadPoolExecutor(1) as tokenizer:
        # While a window is encoded, the next one is tokenised in another thread.
        pending: tuple[Places, Future[list[Ids]]] | None = None
        for window in windows(texts):
            future = tokenizer.submit(tokenize, window)
            if pending is not None:
                yield from _encoded_window(runners, *pending)
            pending = window, future
        if pending is not None:
            yield from _encoded_window(runners, *pending)


def _encoded_window(
    runners: Sequence[BatchRunner], window: Places, tokens: Future[list[Ids]]
) -> Iterator[tuple[Places, Rows]]:
    for places, rows in _shared(runners, tokens.result()):
        yield window[places], rows


def encode_distinct(texts: Sequence[str], batches: Callable[[list[str]], Iterator[tuple[Places, Rows]]]) -> Rows:
    """Return the (n, d) vectors of n > 0 texts; each distinct text is encoded once.

    Parameters
    ----------
    batches
        Called with the distinct texts; yields (indices into them, their vectors).
    """
    distinct = list(dict.fromkeys(texts))
    places, blocks = [], []
    for places_of_batch, rows in batches(distinct):
        places.append(places_of_batch)
        blocks.append(rows)
    # Batches come in any order; the rows are sorted into the order of the distinct texts.
    order = np.argsort(np.concatenate(places))
    matrix = np.concatenate(blocks)[order]
    row_of = {text: row for row, text in enumerate(distinct)}
    return np.asarray(matrix[[row_of[text] for text in texts]])


def windows(texts: Sequence[str]) -> Iterator[Places]:
    """Yield indices of texts in windows of :data:`WINDOW`, longest texts first; the first window has :data:`FIRST`."""
    order = np.argsort([-len(text) for text in texts], kind="stable")
    for start, stop in pairwise([0, *range(FIRST, len(order), WINDOW), len(order)]):
        if start < stop:
            yield order[start:stop]


def batches_of_one_length(lengths: Sequence[int], limit: int) -> Iterator[Places]:
    """Yield the indices of the texts of each batch, longest texts first; its texts have the same number of tokens.

    Parameters
    ----------
    lengths
        The number of tokens of each text.
    limit
        The maximum number of tokens in a batch of more than one text.
    """
    order = np.argsort([-n for n in lengths], kind="stable")
    for length, group in groupby(order, key=lambda n: lengths[n]):
        places = np.array(list(group))
        size = max(1, limit // max(length, 1))
        for start in range(0, len(places), size):
            yield places[start : start + size]


def batches(lengths: Sequence[int], limit: Callable[[], int], threads: int = 1) -> Iterator[Places]:
    """Yield the indices of the texts of each batch, longest texts first. A batch has at least one text.

    Parameters
    ----------
    lengths
        The number of tokens of each text.
    limit
        Returns the maximum number of tokens in a padded batch. It is called before each batch, because the maximum
        shrinks when memory runs out.
    threads
        Number of threads that share the batches. The last batches get smaller, so that all threads finish together.
    """
    order = np.argsort([-n for n in lengths], kind="stable")
    start = 0
    remaining = sum(lengths)
    while start < len(order):
        most = limit()
        if threads > 1:
            # Half of the remaining tokens, shared equally among the threads.
            most = min(most, max(remaining // (2 * threads), most // SMALLER))
        # The first text is the longest, so every text of the padded batch takes its length.
        longest = max(lengths[order[start]], 1)
        places = order[start : start + max(1, most // longest)]
        yield places
        start += len(places)
        remaining -= sum(lengths[n] for n in places)


def _shared(runners: Sequence[BatchRunner], ids: Sequence[Ids]) -> Iterator[tuple[Places, Rows]]:
    """Yield (indices, vectors) of tokenised texts; each runner gets the next batch as soon as it is free."""
    lengths = [len(text) for text in ids]
    first = runners[0]
    # A runner that several threads use occurs several times.
    workers = _workers(runners, sum(lengths))
    if first.route == "light":
        remaining = batches_of_one_length(lengths, first.tokens)
    else:
        remaining = batches(lengths, lambda: first.tokens, threads=len(workers))
    if len(workers) == 1 and first.route not in ONE_PER_CORE:
        for places in remaining:
            yield places, first.forward([ids[n] for n in places])
        return
    # On such a route, a batch that runs alone also has a single thread, because a product that is divided among threads
    # may be summed in another order.
    threads = single_threads(len(workers)) if first.route in ONE_PER_CORE else ThreadPoolExecutor(len(workers))
    with threads as pool:
        running: dict[Future[Rows], tuple[BatchRunner, Places]] = {}

        def start_next(runner: BatchRunner) -> None:
            places = next(remaining, None)
            if places is not None:
                running[pool.submit(runner.forward, [ids[n] for n in places])] = runner, places

        for runner in workers:
            start_next(runner)
        while running:
            wait(running, return_when=FIRST_COMPLETED)
            future = next(future for future in running if future.done())
            runner, places = running.pop(future)
            try:
                rows = future.result()
            finally:
                # Otherwise an error would keep this frame, and so the model, alive until the next garbage collection.
                del future
            start_next(runner)
            yield places, rows


def _workers(runners: Sequence[BatchRunner], tokens: int) -> Sequence[BatchRunner]:
    """Return the runners that share the batches: one per device, or the same one for each core."""
    if len(runners) > 1 or runners[0].route not in ONE_PER_CORE:
        return runners
    return [runners[0]] * max(1, min(cores(), tokens // LEAST))


def groups(ids: Sequence[Ids], equal_lengths: bool, border: int | None) -> Iterator[list[int]]:
    """Yield the indices of texts of a batch that may be encoded together, shortest texts first.

    Parameters
    ----------
    equal_lengths
        Only texts of the same length are encoded together.
    border
        Texts of up to this many tokens are encoded apart from longer ones; None for no such border.
    """
    order = sorted(range(len(ids)), key=lambda n: len(ids[n]))
    if equal_lengths:
        for _, places in groupby(order, key=lambda n: len(ids[n])):
            yield list(places)
    elif border is not None:
        for _, places in groupby(order, key=lambda n: len(ids[n]) > border):
            yield list(places)
    else:
        yield order


def in_groups(ids: Sequence[Ids], parts: Iterable[list[int]], rows_of: Callable[[Sequence[Ids]], Tensor]) -> Tensor:
    """Return the (n, d) vectors of tokenised texts in their order, computed group by group with ``rows_of``."""
    import torch

    places = list(parts)
    rows = torch.cat([rows_of([ids[n] for n in part]) for part in places])
    return rows[torch.tensor(np.argsort(np.concatenate(places)), device=rows.device)]


def border_of(config: PreTrainedConfig | None) -> int | None:
    """Return the number of tokens above which a text changes the positions of its whole batch; None for no limit.

    LongRoPE (Ding et al. 2024), as in Phi-3, uses other frequencies for a batch with a text that is longer than the
    texts of the original training. In such a batch, the vectors of short texts would change.
    """
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    borders = []
    for part in (rope, *rope.values()):
        if not isinstance(part, Mapping) or "longrope" not in (part.get("rope_type"), part.get("type")):
            continue
        border = part.get("original_max_position_embeddings")
        border = border or getattr(config, "original_max_position_embeddings", None)
        if border:
            borders.append(int(border))
    return min(borders, default=None)
