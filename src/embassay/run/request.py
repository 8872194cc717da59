"""The request for a run: one record, filled by the command line, by ``ea.assay`` and by adaptation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from embassay.core.errors import OutputError, say
from embassay.core.store.paths import output_path
from embassay.core.types import JsonObject, Runtime
from embassay.run.cache.cache import VectorCache
from embassay.run.cache.folder import PROBES_FILE, default_folder
from embassay.run.cache.remembered import Remembered
from embassay.run.config import read
from embassay.run.options import PYTHON, RunOptions, options_in
from embassay.run.resolve import CorpusInputs, EncoderInputs
from embassay.run.specs import Spec, fitting

DEFAULT_OUT = Path("embassay-run")
PYTHON_OPTIONS = options_in(PYTHON)


@dataclass(frozen=True)
class RunRequest(RunOptions):
    """What a run is about, and its options.

    Attributes
    ----------
    encoders
        Specs, or encoders as objects, by their labels, in a list, or a single one. The default encoder if empty.
    corpora
        Sources, or corpora that are loaded already, or a single one. The built-in ones if empty.
    diagnostics
        Specs of diagnostics. If empty, those of the profile that fit the corpora.
    out
        Folder of the run.
    warn
        Called with the messages that are shown even where ``quiet`` is set.
    """

    encoders: EncoderInputs = ()
    corpora: CorpusInputs = ()
    diagnostics: Sequence[str | Spec] = ()
    out: Path = DEFAULT_OUT
    warn: Callable[[str], None] = say

    def __post_init__(self) -> None:
        """Refuse an option of the wrong kind or out of range before any other work."""
        for name, kind in PYTHON_OPTIONS.items():
            fitting(getattr(self, name), kind, name)

    @classmethod
    def of(cls, config: Path | None, **flags: object) -> RunRequest:
        """Merge a config file with what was given on the command line, which overrides the file."""
        of_file = read(config).options() if config else {}
        # A command checks robustness and uses the cache of the user, unless it is told not to.
        options: JsonObject = {"out": DEFAULT_OUT, "cache": "default", "robustness": True, **of_file, **flags}
        for name in ("out", "cache"):
            if options[name] not in ("default", None):
                options[name] = output_path(options[name])
        return cls(**options)

    @cached_property
    def vector_cache(self) -> VectorCache | None:
        """The vector cache; None for none, also where that of the user cannot be written to.

        Raises
        ------
        OutputError
            If the user named one that cannot be written to.
        """
        folder = default_folder() if self.cache == "default" else self.cache
        try:
            return VectorCache(folder) if folder else None
        except OutputError as error:
            if self.cache != "default":
                raise
            self.warn(f"no cache: {error}; vectors are not stored")
            return None

    def remembered(self, name: str) -> Remembered:
        """Return the texts in a file of the cache; they are not stored where there is none."""
        return Remembered(self.vector_cache.folder if self.vector_cache else None, name)

    @property
    def tell(self) -> Callable[[str], None]:
        """The function that shows the messages that ``quiet`` turns off."""
        return (lambda message: None) if self.quiet else say

    def runtime(self) -> Runtime:
        """Return where and how encoders run."""
        return Runtime(
            self.device,
            self.backend,
            remembered=self.remembered(PROBES_FILE),
            tell=self.tell,
        )
