"""The training of the unfolding recursive autoencoder: AdaGrad on mini-batches, on one thread.

AdaGrad is Duchi, Hazan, Singer (2011), "Adaptive subgradient methods for online learning and stochastic optimization":
each weight has its own rate, rate/√(sum of its squared gradients). Words that do not occur in a batch do not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embassay.encoders.static.tree_plans import Plan
from embassay.encoders.static.trees import Indices, Shape
from embassay.encoders.static.unfolding import Matrices, penalty, unfolding_loss

Array = NDArray[np.float32]
BATCH = 16
"""Number of sentences in a mini-batch."""
MAX_VECTORS = 100_000
"""Approximate number of vectors that are unfolded together; each takes a few kilobytes of memory."""
SPREAD = 0.1
"""Standard deviation of the words' coordinates. Tanh can reach such values, where it is not flat (Turian, Ratinov,
Bengio 2010, "Word representations: a simple and general method for semi-supervised learning")."""
REACH = 0.9
"""Maximum absolute value of a coordinate."""
NOISE = 0.001
TINY = 1e-8


@dataclass
class Learner:
    """The weights in training, changed in place.

    Attributes
    ----------
    words
        (V + 1, d): the vectors of the words; the first row is the vector of unknown words.
    matrices
        ``fold`` (d, 2d), ``fold_bias`` (d,), ``unfold`` (2d, d), ``unfold_bias`` (2d,).
    squared_gradient_sums
        The sums of squared gradients by the same names, and of the learnt ``words``: all rows, or only the first.
    max_vectors
        Approximate number of vectors that are unfolded together.
    """

    words: Array
    matrices: dict[str, Array]
    squared_gradient_sums: dict[str, Array]
    normalize: bool
    decay: float
    rate: float
    max_vectors: int = MAX_VECTORS

    def step(self, rows: Sequence[Indices], shapes: Sequence[Shape]) -> float:
        """Learn from a mini-batch; return its mean unfolding loss per sentence, before the step.

        Parameters
        ----------
        rows
            The row of each word, sentence by sentence.
        """
        import torch

        tensors = {name: torch.from_numpy(array).clone().requires_grad_() for name, array in self.matrices.items()}
        matrices = Matrices(**tensors, normalize=self.normalize)
        used = np.unique(np.concatenate(rows))
        words = torch.from_numpy(self.words[used]).requires_grad_()
        total = 0.0
        for start, stop in parts(shapes, self.max_vectors):
            plan = Plan.of(shapes[start:stop])
            places = np.searchsorted(used, np.concatenate(rows[start:stop]))[plan.order]
            leaves = torch.nn.functional.embedding(torch.from_numpy(places), words)
            loss = unfolding_loss(plan, leaves, matrices) / len(shapes)
            loss.backward()
            total += loss.item()
        (self.decay * penalty(matrices)).backward()
        for name, tensor in tensors.items():
            self.matrices[name] -= self._adagrad_change(
                self.squared_gradient_sums[name], slice(None), tensor.grad.numpy()
            )
        # Given word vectors stay fixed: only the first rows, which have sums, are learnt.
        learnt = used < len(self.squared_gradient_sums["words"])
        changed = used[learnt]
        self.words[changed] -= self._adagrad_change(
            self.squared_gradient_sums["words"], changed, words.grad.numpy()[learnt]
        )
        return total

    def respread(self) -> None:
        """Reset every coordinate of the words to mean 0 and standard deviation :data:`SPREAD`.

        Otherwise the loss would be smallest if all words had the same vector.
        """
        self.words -= self.words.mean(axis=0)
        self.words *= SPREAD / np.maximum(self.words.std(axis=0), TINY)
        np.clip(self.words, -REACH, REACH, out=self.words)

    def state(self) -> dict[str, Array]:
        """Return the content of a checkpoint: the learnt weights and the sums of squared gradients (``…_sum``)."""
        state = {"words": self.words[: len(self.squared_gradient_sums["words"])], **self.matrices}
        for name, values in self.squared_gradient_sums.items():
            state[f"{name}_sum"] = values
        return state

    def restore(self, state: Mapping[str, Array]) -> None:
        """Restore the state that :meth:`state` returned."""
        for name, values in self.state().items():
            np.copyto(values, state[name])

    def _adagrad_change(self, sums: Array, rows: Indices | slice, gradient: Array) -> Array:
        """Update the sums of squared gradients; return the amount to subtract from the weights."""
        sums[rows] += gradient * gradient
        change = np.float32(self.rate) * gradient / (np.sqrt(sums[rows]) + np.float32(TINY))
        return np.asarray(change, dtype=np.float32)


def new_matrices(dim: int, random: np.random.Generator) -> dict[str, Array]:
    """Return the initial matrices: an inner node is about the mean of its children, and unfolds to about itself.

    W_e = ½ [I I] + ε and W_d = [I; I] + ε, with ε uniform within ±:data:`NOISE`; biases 0. Source: Socher, Bauer,
    Manning, Ng (2013), "Parsing with compositional vector grammars", for W_e.
    """
    both_children = np.concatenate([np.eye(dim), np.eye(dim)])
    fold_noise = random.uniform(-NOISE, NOISE, (dim, 2 * dim))
    unfold_noise = random.uniform(-NOISE, NOISE, (2 * dim, dim))
    fold = np.ascontiguousarray(both_children.T / 2 + fold_noise, dtype=np.float32)
    unfold = np.ascontiguousarray(both_children + unfold_noise, dtype=np.float32)
    return {
        "fold": fold,
        "fold_bias": np.zeros(dim, dtype=np.float32),
        "unfold": unfold,
        "unfold_bias": np.zeros(2 * dim, dtype=np.float32),
    }


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit torch to one thread, so that sums do not depend on the number of cores; small sums are no slower."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def parts(shapes: Sequence[Shape], max_vectors: int = MAX_VECTORS) -> Iterator[tuple[int, int]]:
    """Yield (start, stop) of sentences that are unfolded together; n words need at most n² vectors."""
    start, size = 0, 0
    for place, shape in enumerate(shapes):
        vectors = shape.leaves**2
        if place > start and size + vectors > max_vectors:
            yield start, place
            start, size = place, 0
        size += vectors
    if start < len(shapes):
        yield start, len(shapes)
