"""Batches of tokenised texts: which texts go together, in what order, and on which core or device they run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embassay.engine.cores import cores, single_threads

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedConfig

    from embassay.encoders.neural.runner import Runner

Ids = NDArray[np.int32]
Rows = NDArray[np.float32]
Places = NDArray[np.int64]
WINDOW = 8_192
"""Texts that are tokenised and sorted together; the next ones are tokenised meanwhile."""
FIRST = 512
"""Texts of the first window, before which nothing can be encoded."""
CHUNK = 256
"""Texts handed to the tokenizer, or to a model's own ``encode``, at a time."""
TOKENS = {"cpu": 1_024}
TOKENS_ON_DEVICE = 16_384
"""Tokens of a batch; halved where memory does not suffice."""
LEAST = 128
"""Tokens of a batch that is worth a core of its own."""
SMALLER = 8
"""How many times smaller than the others the last batches may be."""


def run(runners: Sequence[Runner], texts: Sequence[str], prompt: str) -> Iterator[tuple[Places, Rows]]:
    """Yield (places in ``texts``, their vectors) batch by batch, the longest texts first.

    Parameters
    ----------
    runners
        The same model on one or several devices, which share the batches.
    """
    first = runners[0]
    if first.route == "sentence-transformers":
        # Its input is more than tokens, so that batches cannot be shared.
        for start in range(0, len(texts), CHUNK):
            chunk = texts[start : start + CHUNK]
            yield np.arange(start, start + len(chunk)), first.encode_whole(chunk, prompt)
        return

    def tokenize(window: Places) -> list[Ids]:
        return first.tokenize([texts[n] for n in window], prompt)

    with ThreadPoolExecutor(1) as tokenizer:
        coming: tuple[Places, Future[list[Ids]]] | None = None
        for window in windows(texts):
            future = tokenizer.submit(tokenize, window)
            if coming is not None:
                yield from _encoded_window(runners, *coming)
            coming = window, future
        if coming is not None:
            yield from _encoded_window(runners, *coming)


def _encoded_window(
    runners: Sequence[Runner], window: Places, tokens: Future[list[Ids]]
) -> Iterator[tuple[Places, Rows]]:
    for places, rows in _shared(runners, tokens.result()):
        yield window[places], rows


def encode_distinct(texts: Sequence[str], batches: Callable[[list[str]], Iterator[tuple[Places, Rows]]]) -> Rows:
    """Return the (n, d) vectors of n > 0 texts, given what yields (places, vectors) of distinct texts."""
    distinct = list(dict.fromkeys(texts))
    places, blocks = [], []
    for places_of_batch, rows in batches(distinct):
        places.append(places_of_batch)
        blocks.append(rows)
    # Batches come in any order: their rows are put back in that of the distinct texts.
    order = np.argsort(np.concatenate(places))
    matrix = np.concatenate(blocks)[order]
    row_of = {text: row for row, text in enumerate(distinct)}
    return np.asarray(matrix[[row_of[text] for text in texts]])


def windows(texts: Sequence[str]) -> Iterator[Places]:
    """Yield the places of texts, the longest first, some thousand at a time; a few of them first."""
    order = np.argsort([-len(text) for text in texts], kind="stable")
    for start, stop in pairwise([0, *range(FIRST, len(order), WINDOW), len(order)]):
        if start < stop:
            yield order[start:stop]


def batches(lengths: Sequence[int], limit: Callable[[], int], crew: int = 1) -> Iterator[Places]:
    """Yield places of texts, the longest first, as many as have no more tokens together than a limit; at least one.

    Parameters
    ----------
    lengths
        The tokens of each text.
    limit
        Called before each batch: the limit shrinks where memory does not suffice.
    crew
        How many threads share the batches. The last ones get smaller and smaller, so that all threads end together.
    """
    order = np.argsort([-n for n in lengths], kind="stable")
    start, remaining = 0, sum(lengths)
    while start < len(order):
        most = limit()
        if crew > 1:
            most = min(most, max(remaining // (2 * crew), most // SMALLER))
        # The longest comes first, so a padded batch takes its length times the number.
        longest = max(lengths[order[start]], 1)
        places = order[start : start + max(1, most // longest)]
        yield places
        start += len(places)
        remaining -= sum(lengths[n] for n in places)


def _shared(runners: Sequence[Runner], ids: Sequence[Ids]) -> Iterator[tuple[Places, Rows]]:
    """Yield (places, vectors) of tokenised texts; each runner gets its next batch as soon as it is free."""
    lengths = [len(text) for text in ids]
    first = runners[0]
    crew = _crew(runners, sum(lengths))
    remaining = batches(lengths, lambda: first.tokens, crew=len(crew))
    if len(crew) == 1 and first.route != "packed":
        for places in remaining:
            yield places, first.forward([ids[n] for n in places])
        return
    # Packed batches share the processor: each has one thread and no more. One that works alone has one too, because a
    # library that divides a product among threads may add up in another order.
    with single_threads(len(crew)) if first.route == "packed" else ThreadPoolExecutor(len(crew)) as pool:
        running: dict[Future[Rows], tuple[Runner, Places]] = {}

        def start_next(runner: Runner) -> None:
            places = next(remaining, None)
            if places is not None:
                running[pool.submit(runner.forward, [ids[n] for n in places])] = runner, places

        for runner in crew:
            start_next(runner)
        while running:
            wait(running, return_when=FIRST_COMPLETED)
            future = next(future for future in running if future.done())
            runner, places = running.pop(future)
            try:
                rows = future.result()
            finally:
                # An error would hold this frame, and this frame the model, until the next collection.
                del future
            start_next(runner)
            yield places, rows


def _crew(runners: Sequence[Runner], tokens: int) -> Sequence[Runner]:
    """Return the runners that share the batches: the devices, or one runner once for each core that has work to do."""
    if len(runners) > 1 or runners[0].route != "packed":
        return runners
    return [runners[0]] * max(1, min(cores(), tokens // LEAST))


def groups(ids: Sequence[Ids], equal_lengths: bool, border: int | None) -> Iterator[list[int]]:
    """Yield places of the texts of a batch that may go through a model together, the shortest first.

    Parameters
    ----------
    equal_lengths
        Only texts of the same length go together.
    border
        Texts of up to this many tokens and longer ones do not go together; None for no such border.
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
    """Return the (n, d) tensor of the vectors that a function makes of tokenised texts, one group after the other."""
    import torch

    places = list(parts)
    rows = torch.cat([rows_of([ids[n] for n in part]) for part in places])
    return rows[torch.tensor(np.argsort(np.concatenate(places)), device=rows.device)]


def border_of(config: PreTrainedConfig | None) -> int | None:
    """Return the tokens above which a text changes how all positions of its batch are encoded; None where none does.

    LongRoPE (Ding et al. 2024), as Phi-3 has it, takes other frequencies for a batch whose longest text is longer than
    those of its first training: short texts in it would change.
    """
    rope = getattr(config, "rope_parameters", None) or getattr(config, "rope_scaling", None) or {}
    borders = []
    for part in (rope, *rope.values()):
        if isinstance(part, Mapping) and "longrope" in (part.get("rope_type"), part.get("type")):
            border = part.get("original_max_position_embeddings")
            borders.append(border or getattr(config, "original_max_position_embeddings", None))
    return min((int(border) for border in borders if border), default=None)
