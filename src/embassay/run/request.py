"""The request for a run: one record of options, filled by the command line, by ``ea.assay`` and by adaptation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from embassay.errors import OutputError, SpecError, say
from embassay.run.config import read
from embassay.run.profiles import DEFAULT
from embassay.run.progress import Bar, Progress, Quiet
from embassay.run.specs import Spec
from embassay.store.cache.cache import FileHashes, Remembered, default_folder, trouble_with
from embassay.store.paths import output_path
from embassay.types import AnyCorpus, Draws, Encoder, JsonObject, Runtime

DEFAULT_OUT = Path("embassay-run")
EXAMPLES = 100
"""Default number of items of each diagnostic and corpus that are shown one by one."""


def silent(message: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class RunRequest:
    """The options of a run.

    Attributes
    ----------
    encoders
        Specs, or encoders as objects, or a single one. The default encoder if empty.
    corpora
        Sources, or corpora that are loaded already, or a single one. The built-in ones if empty.
    diagnostics
        Specs of diagnostics. If empty, those of the profile that fit the corpora.
    profile
        The name of a choice of diagnostics; see ``run.profiles``.
    limit
        The number of units that are kept of each corpus; None for all.
    baselines
        Whether the lexical and random baselines are added.
    reference
        The label of the encoder that the others are compared with; empty for the first one.
    trusted
        Labels of the encoders that may bring and run their own code.
    follow_links
        Whether symbolic links inside a corpus's folder are followed.
    robustness
        Whether the vectors of neural encoders are checked for robustness.
    cache
        Folder of the vector cache, ``"default"`` for the user's own, None for no cache.
    cost
        Whether the time that local models take for the same texts is measured; if None, where there are two or more.
    examples
        Largest number of items of each diagnostic and corpus that are shown one by one; ``"all"`` for all.
    out, overwrite, texts
        Folder of the run, whether it may replace another run, and whether texts of the corpora are stored in it.
    warn
        Called with the messages that are shown even where ``quiet`` is set.
    """

    encoders: Sequence[str | Spec | Encoder] | str | Spec | Encoder = ()
    corpora: Sequence[str | Spec | AnyCorpus] | str | Spec | AnyCorpus = ()
    diagnostics: Sequence[str | Spec] = ()
    profile: str = DEFAULT
    seed: int = 0
    resamples: int = 1000
    limit: int | None = None
    baselines: bool = True
    reference: str = ""
    trusted: Sequence[str] = ()
    follow_links: bool = False
    robustness: bool = False
    cost: bool | None = None
    examples: int | Literal["all"] = EXAMPLES
    device: str = "auto"
    backend: str = "auto"
    cache: Path | Literal["default"] | None = None
    out: Path = DEFAULT_OUT
    overwrite: bool = False
    texts: bool = True
    quiet: bool = False
    warn: Callable[[str], None] = say

    def __post_init__(self) -> None:
        """Refuse a seed, a number of resamples or of examples out of range before any other work."""
        # Both raise an error when they are read.
        _ = self.draws, self.most_examples

    @classmethod
    def of(cls, config: Path | None, **flags: object) -> RunRequest:
        """Merge a config file with the flags of the command line.

        A flag overrides the file, unless it is None or an empty list: then it was not given.
        """
        options: JsonObject = {"robustness": True}
        if config:
            options |= read(config).options()
        for name, value in flags.items():
            if value is not None and value != []:
                options[name] = value
        options["out"] = output_path(options.get("out", DEFAULT_OUT))
        if options.get("cache", "default") != "default":
            options["cache"] = output_path(options["cache"])
        return cls(**options)

    @cached_property
    def cache_folder(self) -> Path | None:
        """The folder of the vector cache; None for none, also where the default one cannot be written to.

        Raises
        ------
        OutputError
            If the user named one that cannot be written to.
        """
        if self.cache is None:
            return None
        folder = default_folder() if self.cache == "default" else self.cache
        reason = trouble_with(folder)
        if not reason:
            return folder
        if self.cache != "default":
            raise OutputError(f"{folder}: cannot be used as a cache: {reason}")
        self.warn(f"no cache: {folder}: {reason}; vectors are not stored")
        return None

    @cached_property
    def draws(self) -> Draws:
        """The seed and the number of resamples."""
        return Draws(self.seed, self.resamples)

    @property
    def most_examples(self) -> int | None:
        """The largest number of items that are shown; None for all.

        Raises
        ------
        SpecError
            For anything but ``"all"`` and whole numbers of 0 or more.
        """
        if self.examples == "all":
            return None
        if isinstance(self.examples, bool) or not isinstance(self.examples, int) or self.examples < 0:
            raise SpecError(f"examples must be 'all' or a whole number of 0 or more, is {self.examples!r}")
        return self.examples

    @property
    def tell(self) -> Callable[[str], None]:
        """The function that shows the messages that ``quiet`` turns off."""
        return silent if self.quiet else say

    @property
    def progress(self) -> Progress:
        """The display of how far an encoder is."""
        return Quiet() if self.quiet else Bar()

    def runtime(self) -> Runtime:
        """Return where and how encoders run."""
        return Runtime(
            self.device,
            self.backend,
            sha256=FileHashes(self.cache_folder),
            remembered=Remembered(self.cache_folder),
            tell=self.tell,
        )
