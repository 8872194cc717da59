"""The export of a model to a folder, which is written completely or not at all, with a comparison of the vectors."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from embassay._version import __version__
from embassay.encoders.base import Releases
from embassay.encoders.exported.model_folder import FIDELITY, FORMAT, RECORD
from embassay.errors import EncoderError, MissingExtraError, OutputError, SpecError
from embassay.run.resolve import load_corpus, load_encoder
from embassay.run.specs import Spec
from embassay.store.canonical import canonical, replace_folder, write
from embassay.store.partial_files import names_in
from embassay.store.paths import output_path
from embassay.types import AnyCorpus, JsonObject, Runtime

if TYPE_CHECKING:
    from embassay.encoders.neural.st import SentenceTransformersEncoder
    from embassay.export.fidelity import Fidelity

GRAPHS = {"model.onnx", "openvino_model.xml", "openvino_model.bin"}
FILES = {RECORD, FIDELITY, "README.md", "tokenizer.json", *GRAPHS}
"""All files of an exported model."""
Target = Literal["onnx", "openvino"]
NEEDED = {"onnx": ("onnxruntime", "onnx", "tokenizers"), "openvino": ("openvino", "tokenizers")}
NEAR = 1e-6
"""The largest distance, 1 − cosine, between a vector of a float32 graph and the model's."""
SLACK = 1e-4
"""The largest difference of a coordinate, relative to the norm of the longest vector."""


@dataclass(frozen=True)
class Exported:
    """The result of an export: its folder, the spec of the encoder, and the comparison with the original."""

    folder: Path
    spec: str
    fidelity: Fidelity


def make(
    encoder: str,
    out: Path,
    to: Target,
    *,
    int8: bool = False,
    corpora: Sequence[str | AnyCorpus] = (),
    overwrite: bool = False,
) -> Exported:
    """Export a model. The folder is written completely or not at all.

    Parameters
    ----------
    encoder
        The spec of a sentence-transformers model. Its options (prompts, max_length, dim, normalize) are exported too.
    corpora
        Vectors are compared on the texts of these corpora; on the built-in ones if there are none.

    Raises
    ------
    InputError
        If the model, a corpus or the folder cannot be used, or a library is not installed.
    EncoderError
        If the model cannot be exported, or the vectors of a float32 graph differ from the model's.
    """
    from embassay.export.fidelity import measure
    from embassay.export.writing import write_graph

    if to not in NEEDED:
        raise SpecError(f"export to {to!r}: must be {' or '.join(NEEDED)}")
    out = output_path(out)
    _check_free(out, overwrite)
    for name in NEEDED[to]:
        if importlib.util.find_spec(name) is None:
            raise MissingExtraError(f"export to {to}", to)
    original = _original(encoder)
    loaded = [load_corpus(c) if isinstance(c, str) else c for c in corpora]
    for corpus in loaded:
        corpus.need_texts("the comparison with the original")
    with _whole_folder(out) as folder:
        facts = write_graph(original, folder, to, int8)
        card = original.card
        source = {"spec": card.spec, "revision": card.revision, "fingerprint": original.fingerprint}
        made_with = {"embassay": __version__, **facts.pop("made_with")}
        record = {
            **facts,
            "format": FORMAT,
            "source": source,
            "prompts": card.prompts,
            "similarity": card.similarity,
            "made_with": made_with,
        }
        write(folder / RECORD, canonical(record))
        exported = load_encoder(Spec(f"{to}:{folder}"), Runtime())
        fidelity = measure(original, exported, loaded)
        if not int8:
            _check_near(encoder, fidelity)
        write(folder / FIDELITY, canonical(fidelity))
        write(folder / "README.md", _card(card.spec, to, int8, facts, made_with, fidelity).encode())
        if isinstance(exported, Releases):
            exported.release()
    place = f"./{out}"
    if out.is_absolute():
        place = str(out)
    return Exported(out, f"{to}:{place}", fidelity)


def _original(encoder: str) -> SentenceTransformersEncoder:
    from embassay.encoders.neural.st import SentenceTransformersEncoder

    model = load_encoder(encoder, Runtime("cpu"))
    if not isinstance(model, SentenceTransformersEncoder):
        raise SpecError(f"encoder {encoder!r}: only sentence-transformers models (st:) can be exported")
    return model


def _check_near(encoder: str, fidelity: Fidelity) -> None:
    """Raise EncoderError if the vectors of a float32 graph differ from the model's in direction or length."""
    if 1 - fidelity.cosine_min > NEAR:
        problem = f"the lowest cosine with the original is {fidelity.cosine_min:.6f}"
    elif fidelity.largest_difference > SLACK * fidelity.largest_norm:
        difference, norm = fidelity.largest_difference, fidelity.largest_norm
        problem = f"a coordinate differs by {difference:.2g}, the longest vector has length {norm:.2g}"
    else:
        return
    raise EncoderError(
        f"encoder {encoder!r}: the exported graph gives other vectors than the model ({problem}); nothing was written"
    )


def _check_free(out: Path, overwrite: bool) -> None:
    """Raise an error if a folder has other content, or an exported model that must not be overwritten."""
    if "," in str(out):
        raise SpecError(f"{out}: the folder's name must not contain a comma; choose another with -o")
    if out.resolve() == Path.cwd():
        raise OutputError(f"{out}: is the current folder; choose another with -o")
    if out.exists() and not out.is_dir():
        raise OutputError(f"{out}: is a file; choose a folder with -o")
    names = names_in(out)
    if not names:
        return
    if RECORD not in names or names - FILES:
        raise OutputError(f"{out}: is not empty and not an exported model; choose another folder with -o")
    if not overwrite:
        raise OutputError(
            f"{out}: already contains an exported model; choose another folder with -o, or add --overwrite"
        )


@contextmanager
def _whole_folder(out: Path) -> Iterator[Path]:
    """Yield an empty folder that is renamed to ``out`` after success and removed after an error."""
    out = out.resolve()
    new = out.with_name(f".{out.name}.exporting")
    try:
        # An export that was killed may have left it.
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        yield new
        replace_folder(new, out)
    except OSError as error:
        raise OutputError(f"{out}: cannot be written: {error.strerror or error}") from None
    except OutputError as error:
        raise OutputError(str(error).replace(str(new), str(out))) from None
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _card(spec: str, to: Target, int8: bool, facts: JsonObject, made_with: dict[str, str], fidelity: Fidelity) -> str:
    """Return the folder's README: origin, usage, and comparison with the original."""
    weights = "float32"
    if int8:
        weights = "8-bit weights"
    versions = ", ".join(f"{name} {number}" for name, number in made_with.items())
    rows = {
        "made from": f"`{spec}`",
        "by": f"`embassay export`, {versions}",
        "graph": f"`{facts['graph']}`, {weights}; {' → '.join(facts['modules'])}",
        "dimensions": str(facts["dim"]),
        "tokens read": str(facts["max_length"] or "no limit"),
    }
    table = "\n".join(f"| {name} | {value} |" for name, value in rows.items())
    comparison = "\n".join(f"- {line}" for line in fidelity.sentences())
    model = spec.partition(":")[2].partition(",")[0]
    runtime = "OpenVINO"
    if to == "onnx":
        runtime = "ONNX"
    return (
        f"# {model} for {runtime}\n\n"
        f"| | |\n|---|---|\n{table}\n\n"
        "The graph takes token ids and returns the text's vector; it includes pooling and scaling.\n\n"
        f"    embassay run -e {to}:./FOLDER\n\n"
        f"## Comparison with the original\n\n{comparison}\n\n"
        "The licence is that of the original model.\n"
    )
