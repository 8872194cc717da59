"""From the options of a spec to an exported model, the same for every runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from embassay.encoders.exported.encoder import ExportedEncoder
from embassay.encoders.exported.graph import Session
from embassay.encoders.exported.model_folder import ExportedFolder
from embassay.encoders.neural.shared import given_options
from embassay.store.paths import source_path
from embassay.types import Runtime, check_device

Pooling = Literal["mean", "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]


@dataclass(frozen=True)
class GraphFormat:
    """The graphs that one runtime reads.

    Attributes
    ----------
    scheme
        The scheme of specs: ``onnx``.
    suffix
        Of a graph's file: ``.onnx``.
    places
        Where a graph lies in its folder; the first that exists is taken.
    open
        Loads a graph on a device.
    """

    scheme: str
    suffix: str
    places: tuple[str, ...]
    open: Callable[[Path, str], Session]


def load_folder(
    graphs: GraphFormat, target: str, runtime: Runtime, device: str, options: Mapping[str, object]
) -> ExportedEncoder:
    """Read the folder's configuration; the graph is loaded when the first text is encoded.

    Parameters
    ----------
    device
        Where to run; the run's device where it is empty.
    options
        The plug-in's other options by name.

    Raises
    ------
    ModelNotFoundError
        If the folder, its graph, its tokenizer or a part of its configuration is missing or damaged.
    SpecError
        For a length or a number of dimensions under 1, and for a device that has no such name.
    """
    given = given_options(f"encoder '{graphs.scheme}:{target}'", options)
    place = device or runtime.device
    check_device(place)
    file, pooling = given.get("file", ""), given.get("pooling", "")
    folder = ExportedFolder.of(source_path(target), graphs.suffix, graphs.places, file, pooling)
    return ExportedEncoder(graphs.scheme, target, folder, runtime, partial(graphs.open, folder.graph, place), given)
