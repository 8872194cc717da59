"""The training of the unfolding recursive autoencoder: AdaGrad on mini-batches, on one thread.

AdaGrad is Duchi, Hazan, Singer (2011), "Adaptive subgradient methods for online learning and stochastic optimization":
each weight has its own rate, rate/√(sum of its squared gradients). Words that do not occur in a batch do not change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from embassay.core.vectors import DenseVectors, Indices
from embassay.models.static.autoencoder import Matrices, penalty, unfolding_loss
from embassay.models.static.trees import Tree, joined

if TYPE_CHECKING:
    from embassay.training.options import UraeOptions

BATCH = 16
"""Number of sentences in a mini-batch."""
SPREAD = 0.1
"""Standard deviation of the words' coordinates. Tanh can reach such values, where it is not flat (Turian, Ratinov,
Bengio 2010, "Word representations: a simple and general method for semi-supervised learning")."""
REACH = 0.9
"""Maximum absolute value of a coordinate."""
NOISE = 0.001
DECAY = 1e-5
"""The factor λ of the squared weights in the loss."""
TINY = 1e-8


class Learner:
    """The weights in training, changed in place.

    Parameters
    ----------
    weights
        ``fold`` (d, 2d), ``fold_bias`` (d,), ``unfold`` (2d, d), ``unfold_bias`` (2d,), and ``words`` (V + 1, d): the
        vector of unknown words, followed by those of the other words.
    """

    def __init__(self, weights: Mapping[str, DenseVectors], options: UraeOptions):
        import torch

        self.weights = {name: torch.from_numpy(array).clone().requires_grad_() for name, array in weights.items()}
        self.options = options
        self.optimizer = torch.optim.Adagrad(self.weights.values(), lr=options.rate, eps=TINY)

    def step(self, rows: Sequence[Indices], trees: Sequence[Tree]) -> float:
        """Learn from a mini-batch; return its mean unfolding loss per sentence, before the step.

        Parameters
        ----------
        rows, trees
            Of each sentence, the row of each word, 0 for an unknown word; and its tree.
        """
        import torch

        matrices = Matrices(
            **{name: tensor for name, tensor in self.weights.items() if name != "words"},
            normalize=self.options.normalize,
        )
        self.optimizer.zero_grad()
        # Sparse gradients, so that a step does not touch the words that do not occur in it.
        of_words = torch.from_numpy(np.concatenate(rows))
        words = torch.nn.functional.embedding(of_words, self.weights["words"], sparse=True)
        merges, _ = joined(trees)
        loss = unfolding_loss(words, merges, matrices) / len(trees)
        loss.backward()
        (DECAY * penalty(matrices)).backward()
        # Said explicitly, because torch warns of sparse gradients otherwise.
        with torch.sparse.check_sparse_tensor_invariants(enable=False):
            self.optimizer.step()
        return float(loss.detach())

    def respread(self) -> None:
        """Reset every coordinate of the words to mean 0 and standard deviation :data:`SPREAD`.

        Otherwise the loss would be smallest if all words had the same vector.
        """
        words = self.weights["words"].detach()
        words -= words.mean(dim=0)
        words *= SPREAD / words.std(dim=0, correction=0).clamp(min=TINY)
        words.clamp_(-REACH, REACH)

    def state(self) -> dict[str, DenseVectors]:
        """Return the weights and the sums of their squared gradients (``…_sum``), which training changes in place."""
        state = {}
        for name, tensor in self.weights.items():
            state[name] = tensor.detach().numpy()
            state[f"{name}_sum"] = self.optimizer.state[tensor]["sum"].numpy()
        return state

    def restore(self, state: Mapping[str, DenseVectors]) -> None:
        """Restore the state that :meth:`state` returned."""
        for name, values in self.state().items():
            np.copyto(values, state[name])


def new_matrices(dim: int, random: np.random.Generator) -> dict[str, DenseVectors]:
    """Return the initial matrices: an inner node is about the mean of its children, and unfolds to about itself.

    W_e = ½ [I I] + ε and W_d = [I; I] + ε, with ε uniform within ±:data:`NOISE`; biases 0. Source: Socher, Bauer,
    Manning, Ng (2013), "Parsing with compositional vector grammars", for W_e.
    """
    both_children = np.concatenate([np.eye(dim), np.eye(dim)])
    fold = both_children.T / 2 + random.uniform(-NOISE, NOISE, (dim, 2 * dim))
    unfold = both_children + random.uniform(-NOISE, NOISE, (2 * dim, dim))
    start = {"fold": fold, "fold_bias": np.zeros(dim), "unfold": unfold, "unfold_bias": np.zeros(2 * dim)}
    return {name: np.ascontiguousarray(values, dtype=np.float32) for name, values in start.items()}


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
