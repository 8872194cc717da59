"""What figures are measured with: public data and released weights, each known by its hash, and the runs over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from embassay.core.errors import InputError
from embassay.core.result import Result, Row
from embassay.core.types import Runtime, sha256_of
from embassay.models.neural.locations import BUNDLED_MODEL, PUBLISHED_WEIGHTS, find_offline
from embassay.run.execute import execute
from embassay.run.plan import prepare
from embassay.run.request import RunRequest

WEIGHTS = "model.safetensors"
HUB = "sentence-transformers"


@dataclass(frozen=True)
class Data:
    """Data of a paper, as released.

    Attributes
    ----------
    path
        Its file or folder in the folder of the data.
    spec
        How ``-c`` takes it, with ``{}`` for the path.
    files
        The SHA-256 of its files, by their paths in the folder of the data. Empty where no copy was at hand, so that any
        version is taken.
    origin
        Where it can be had.
    """

    path: str
    spec: str
    files: Mapping[str, str]
    origin: str


DATA = {
    "SemAntoNeg v1.0": Data(
        "semantoneg/SemAntoNeg_v1.0.json",
        "semantoneg={}",
        {"semantoneg/SemAntoNeg_v1.0.json": "2d1435c1ae5e6c76"},
        "https://github.com/Helsinki-NLP/SemAntoNeg",
    ),
    "MSRP": Data(
        "msrp",
        "msrp={},loader=msrp",
        {"msrp/msr_paraphrase_train.txt": "2174e11735d71a0f", "msrp/msr_paraphrase_test.txt": "51a1f197d8786712"},
        "https://www.microsoft.com/en-us/download/details.aspx?id=52398",
    ),
    "Opinosis groups": Data(
        "opinosis",
        "opinosis={},loader=opinosis",
        {},
        "http://white.ucc.asn.au/resources/paraphrase_grouped_corpora",
    ),
    "STS-b test": Data(
        "stsbenchmark/sts-test.csv",
        "stsb={},loader=pairs",
        {"stsbenchmark/sts-test.csv": "affe45928a66ee5a"},
        "http://ixa2.si.ehu.eus/stswiki/index.php/STSbenchmark",
    ),
    "SICK-R": Data("sickr/test.tsv", "sickr={},loader=pairs", {}, "https://doi.org/10.5281/zenodo.2787612"),
    "HEROS": Data("heros/heros.tsv", "heros={}", {}, "https://huggingface.co/datasets/dcml0714/Heros"),
    "GoEmotions": Data(
        "goemotions/train.tsv",
        "",
        {"goemotions/train.tsv": "9abfe94b5dd8d9bf"},
        "https://doi.org/10.18653/v1/2020.acl-main.372",
    ),
    "TeleQuAD v4": Data(
        "telequad/TeleQuAD-v4-full.json",
        "telequad={}",
        {"telequad/TeleQuAD-v4-full.json": "c46a4ab82d385869"},
        "https://github.com/Ericsson/TeleQuAD",
    ),
    "XQuAD": Data(
        "xquad_en/xquad.en.json",
        "xquad={},documents=sentences",
        {"xquad_en/xquad.en.json": "e4c57d1c9143aaa1"},
        "https://github.com/google-deepmind/xquad",
    ),
    "WebNLG sets": Data(
        "webnlg_sets/tuples.jsonl",
        "webnlg={}",
        {"webnlg_sets/tuples.jsonl": "1dd74290f232a804"},
        "https://gitlab.com/shimorina/webnlg-dataset",
    ),
}
"""The data by name. A hash is the first 16 digits of the SHA-256."""


class MissingError(InputError):
    """Data or weights that are not at hand; the message says where they would be looked for."""


@dataclass
class Bench:
    """Data and weights at hand, and the results of runs over them, each computed once.

    Attributes
    ----------
    data, models
        The folders with the data and with the weights; None for none.
    hub
        Whether models may be downloaded from the hub.
    cache
        The folder of the vector cache, or ``default``; None for none.
    """

    data: Path | None
    models: Path | None
    hub: bool = False
    cache: Path | Literal["default"] | None = "default"
    _results: dict[tuple[object, ...], Result] = field(default_factory=dict)

    def file(self, name: str) -> Path:
        """Return the path of data.

        Raises
        ------
        MissingError
            If it is not in the folder, or is another version than the papers'.
        """
        data = DATA[name]
        if self.data is None or not (self.data / data.path).exists():
            raise MissingError(f"{name} is not available (--data FOLDER with {data.path}; {data.origin})")
        for path, known in data.files.items():
            found = sha256_of(self.data / path)[: len(known)]
            if found != known:
                raise MissingError(
                    f"{name} is of another version: {path} has the SHA-256 {found}…, not {known}…; "
                    "its figures are not compared with the paper's"
                )
        return self.data / data.path

    def corpus(self, name: str) -> str:
        """Return data as ``-c`` takes it.

        Raises
        ------
        MissingError
            Like :meth:`file`.
        """
        return DATA[name].spec.format(self.file(name))

    def encoder(self, name: str) -> str:
        """Return the spec of a model that papers call so.

        Raises
        ------
        MissingError
            If its weights are not at hand, or are not those that this name has.
        """
        folder = self._folder(name)
        if folder is None:
            if self.hub:
                return f"{HUB}/{name}"
            raise MissingError(f"the weights are not available (--models FOLDER with {name}, or --hub)")
        known = PUBLISHED_WEIGHTS.get(name)
        if known and self.weights(name) != known:
            raise MissingError(f"{folder} does not hold the weights of {name}: their SHA-256 is not {known[:16]}…")
        return name if name == BUNDLED_MODEL else str(folder)

    def in_models(self, file: str) -> Path:
        """Return the path of a file or folder of the models.

        Raises
        ------
        MissingError
            If it is not there.
        """
        if not self.has_file(file):
            raise MissingError(f"no weights are available (--models FOLDER with {file})")
        return self.models / file  # type: ignore[operator]

    def has_file(self, file: str) -> bool:
        """Whether the folder of the models has a file or folder."""
        return self.models is not None and (self.models / file).exists()

    def weights(self, name: str) -> str:
        """Return the SHA-256 of the weights of a model on this disk; empty if it is not here, or in another format."""
        folder = self._folder(name)
        if folder is None or not (folder / WEIGHTS).is_file():
            return ""
        return sha256_of(folder / WEIGHTS)

    def data_hashes(self, names: tuple[str, ...]) -> dict[str, str]:
        """Return the SHA-256 of each file of data that is at hand."""
        hashes = {}
        for name in names:
            data = DATA[name]
            for path in data.files or (data.path,):
                if self.data is not None and (self.data / path).is_file():
                    hashes[path] = sha256_of(self.data / path)
        return hashes

    def run(self, encoders: Mapping[str, str], corpus: str, diagnostic: str) -> Result:
        """Return the result of a diagnostic on a corpus for encoders, given as specs by label."""
        key = (*encoders.items(), corpus, diagnostic)
        if key not in self._results:
            specs = [f"{label}={spec}" for label, spec in encoders.items()]
            request = RunRequest(
                specs, [corpus], [diagnostic], baselines=False, quiet=True, examples=0, cache=self.cache
            )
            outcome = execute(prepare(request))
            outcome.check()
            self._results[key] = outcome.result
        return self._results[key]

    def row(self, encoder: str, spec: str, corpus: str, diagnostic: str, metric: str) -> Row:
        """Return one row of the result of one encoder."""
        return self.run({encoder: spec}, corpus, diagnostic).figure(metric, encoder)

    def _folder(self, name: str) -> Path | None:
        """Return the folder of a model on this disk: in the folder of the models, a package or the hub's cache."""
        if self.models is not None and (self.models / name).exists():
            return self.models / name
        found = find_offline(name, "", Runtime())
        return found.folder if found else None
