"""The recipes of all trainings: one record each for the command line, for Python and for the folder of the model."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Literal, TypeVar

from annotated_types import Ge, Gt, Lt

from embassay.models.limits import Amount, Count, CountOrZero
from embassay.run.specs import Checked

Tokens = Literal["words", "treebank"]
By = Literal["question", "context"]
"""What training and test questions must not share: their text, or also a unit or a right document."""
Device = Literal["auto", "cpu", "cuda", "mps"]
Share = Annotated[float, Ge(0), Lt(1)]


@dataclass(frozen=True)
class WordsOptions(Checked):
    """Options of ``embassay train words``.

    Attributes
    ----------
    model
        skipgram: predict the surrounding words from a word; cbow: predict a word from the surrounding words.
    dim
        Number of dimensions.
    window
        Number of context words on each side of a word.
    min_count
        Learn words that occur at least this often. Default: 5, or fewer for a small text.
    epochs
        Number of passes over the text.
    tokens
        Tokenizer for the lower-cased sentences: words, or treebank (nltk).
    seed
        Seed for all random numbers.
    """

    model: Literal["skipgram", "cbow"] = "skipgram"
    dim: Count = 300
    window: Count = 5
    min_count: Count | None = None
    epochs: Count = 5
    tokens: Tokens = "words"
    seed: CountOrZero = 0


@dataclass(frozen=True)
class ParagraphsOptions(Checked):
    """Options of ``embassay train paragraphs``.

    Attributes
    ----------
    model
        dm: predict a word from its sentence and the surrounding words; dbow: from its sentence alone.
    dim
        Number of dimensions.
    window
        Number of context words on each side, for dm.
    min_count
        Learn words that occur at least this often. Default: 5, or fewer for a small text.
    epochs
        Number of passes over the text.
    tokens
        Tokenizer for the lower-cased sentences: words, or treebank (nltk).
    seed
        Seed for all random numbers.
    """

    model: Literal["dm", "dbow"] = "dm"
    dim: Count = 300
    window: Count = 8
    min_count: Count | None = None
    epochs: Count = 20
    tokens: Tokens = "words"
    seed: CountOrZero = 0


@dataclass(frozen=True)
class UraeOptions(Checked):
    """Options of ``embassay train urae``.

    Attributes
    ----------
    dim
        Number of dimensions.
    epochs
        Number of passes over the text.
    trees
        Source of the sentences' trees: right (right-branching), balanced, or a file of bracketed parses.
    normalize
        Scale each inner node to unit length.
    rate
        Learning rate of AdaGrad.
    seed
        Seed for all random numbers.
    """

    dim: Count = 200
    epochs: Count = 10
    trees: str = "right"
    normalize: bool = False
    rate: Amount = 0.01
    seed: CountOrZero = 0


@dataclass(frozen=True)
class SentenceRecipe(Checked):
    """Options of pre-training, which fine-tuning shares.

    Attributes
    ----------
    epochs
        Number of passes over the data, above 0; 0.5 reads half of the data.
    batch
        Number of rows in a batch.
    rate
        Highest learning rate of AdamW; it falls linearly to 0.
    warmup
        Share of the steps in which the learning rate rises, from 0 to below 1.
    device
        A GPU computes in bfloat16 if it supports it, a CPU in float32.
    seed
        Seed for all random numbers, 0 or more.

    """

    epochs: Amount = 1
    batch: Count = 32
    rate: Amount = 3e-5
    warmup: Share = 0.1
    device: Device = "auto"
    seed: CountOrZero = 0


@dataclass(frozen=True)
class FinetuneOptions(SentenceRecipe):
    """Options of fine-tuning; the further ones are those of :class:`AdaptOptions`."""

    epochs: Amount = 2
    rate: Amount = 2e-5
    negatives: Count = 2
    window: Count = 50
    margin: Annotated[float, Ge(0), Lt(2)] = 0.05


TextOptions = WordsOptions | ParagraphsOptions | UraeOptions
"""The recipes of trainings on a text."""
KINDS = {"words": WordsOptions, "paragraphs": ParagraphsOptions, "urae": UraeOptions}
Recipe = TextOptions | SentenceRecipe
R = TypeVar("R", bound=SentenceRecipe)


@dataclass(frozen=True)
class AdaptOptions(Checked):
    """Options of domain adaptation, the same as those of ``embassay adapt``.

    Attributes
    ----------
    pretrain
        Pre-train on the sentences of the documents. Without --pretrain and --finetune, all four variants are made.
    finetune
        Fine-tune on questions, their right documents and hard negatives.
    negatives
        Maximum number of hard negatives for each question, found with the base model. More make training slower.
    window
        Negatives are sampled from this many nearest documents of a question.
    margin
        A negative must be less similar to the question than the right document by this difference of cosines.
    by
        Keep training and test questions apart by their text (question), or also by unit and right document (context).
    test
        Share of the questions that is held out for the test.
    epochs
        Number of passes over the data in each stage. Default: 1 for pre-training, 2 for fine-tuning.
    batch
        Number of rows in a batch, in each stage.
    rate
        Highest learning rate, in each stage. Default: 3e-5 for pre-training, 2e-5 for fine-tuning.
    warmup
        Share of the steps in which the learning rate rises, in each stage.
    seed
        Seed for all random numbers.
    resamples
        Bootstrap resamples. Affects intervals, not p-values of comparisons (9,999 sign flips or more).
    device
        Device for training and assay: auto, cpu, cuda, mps. CUDA_VISIBLE_DEVICES chooses among several GPUs.
    limit
        Keep the questions of at most N randomly chosen units of each corpus. All documents are kept.
    no_texts
        Leave all sentences of the corpora out of the result and the report of the run.

    Examples
    --------
    >>> options = ea.AdaptOptions(finetune=True, negatives=4)
    >>> options.epochs is None, options.batch
    (True, 32)
    """

    pretrain: bool = False
    finetune: bool = False
    negatives: Count = 2
    window: Count = 50
    margin: Annotated[float, Ge(0), Lt(2)] = 0.05
    by: By = "question"
    test: Annotated[float, Gt(0), Lt(1)] = 0.2
    epochs: Amount | None = None
    batch: Count = 32
    rate: Amount | None = None
    warmup: Share = 0.1
    seed: CountOrZero = 0
    resamples: Count = 1000
    device: Device = "auto"
    limit: Count | None = None
    no_texts: bool = False

    def of(self, recipe: type[R]) -> R:
        """Return the options of one stage; those that are None have its own defaults.

        Raises
        ------
        SpecError
            If one is out of range.
        """
        values = {one.name: getattr(self, one.name, None) for one in fields(recipe)}
        return recipe(**{name: value for name, value in values.items() if value is not None})
