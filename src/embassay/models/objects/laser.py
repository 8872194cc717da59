"""LASER through the package laser_encoders, where it is installed: ``laser:laser2``, or ``laser:laser3,lang=wol_Latn``.

Artetxe & Schwenk (2019), "Massively Multilingual Sentence Embeddings for Zero-Shot Cross-Lingual Transfer and Beyond".
The package downloads the weights when they are first needed.
"""

from __future__ import annotations

from importlib.metadata import version

from embassay.core.errors import SpecError
from embassay.core.types import Runtime
from embassay.models.base import spec_of
from embassay.models.objects.calls import CallEncoder, of_package

TARGET = "laser2 or laser3"


def create(target: str, runtime: Runtime, *, lang: str = "") -> CallEncoder:
    """Check the options; the model is loaded, and perhaps downloaded, when the first text is encoded.

    Parameters
    ----------
    target
        ``laser2``, which reads 93 languages, or ``laser3``, which has a model for each language.
    lang
        The language of ``laser3``, as the package names it: ``wol_Latn``.

    Raises
    ------
    SpecError
        If there is no such model, ``lang`` and model do not fit, or the package is not installed.
    """
    if (target, bool(lang)) not in (("laser2", False), ("laser3", True)):
        raise SpecError(f"encoder 'laser:{target}': write laser:laser2, or laser:laser3,lang=wol_Latn")
    # The folder of the weights is unknown before the package has loaded them; the weights belong to a release.
    return of_package(
        target,
        spec_of(f"laser:{target}", {"lang": lang}),
        "laser_encoders",
        lambda: [lang, version("laser_encoders")],
        lambda package: package.LaserEncoderPipeline(lang=lang or None, laser=target).encode_sentences,
    )
