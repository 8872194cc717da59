"""What encoding, storing and searching n texts takes, from constants that ``scale.py`` has measured."""

from __future__ import annotations

from dataclasses import dataclass

BYTES = {"float32": 4, "float16": 2, "int8": 1}
SIZES = (10**6, 10**8, 10**9)
DIGEST, PARTS = 16, 64
"""Bytes of the digest of an id or a text, and the parts in which they are sorted (``sharding.source``)."""


@dataclass(frozen=True)
class Constants:
    """Of one core, one encoder and one price.

    Attributes
    ----------
    encode
        Processor seconds for each text.
    cut
        Seconds for each text of the first pass, which reads, hashes and checks the input in one process.
    search
        Processor seconds for 1,000 questions, for each passage.
    row
        Bytes of the id and the hash of a row on disk.
    dim
        Dimensions of a vector.
    core_hour
        Dollars for an hour of one core.
    """

    encode: float
    cut: float
    search: float
    row: float
    dim: int
    core_hour: float


@dataclass(frozen=True)
class Estimate:
    """What n texts take, on a number of cores.

    Attributes
    ----------
    dollars
        Of encoding once, cutting included.
    digests
        Bytes of temporary disk for the digests of ids and texts.
    part
        Bytes of the digests that are sorted at a time.
    """

    cut_hours: float
    encode_hours: float
    search_hours: float
    dollars: float
    disk: dict[str, float]
    digests: float
    part: float


def estimate(n: int, cores: int, constants: Constants) -> Estimate:
    """Return what n texts take.

    Encoding and search are shared by the cores; the first pass is not.
    """
    cut = n * constants.cut / 3600
    core_hours = n * constants.encode / 3600
    disk = {}
    for dtype, size in BYTES.items():
        scale = 4 if dtype == "int8" else 0
        disk[dtype] = n * (constants.dim * size + scale + constants.row)
    return Estimate(
        cut_hours=cut,
        encode_hours=core_hours / cores,
        search_hours=n * constants.search / 3600 / cores,
        dollars=(cut + core_hours) * constants.core_hour,
        disk=disk,
        digests=2.0 * n * DIGEST,
        part=n * DIGEST / PARTS,
    )


def print_model(constants: Constants, cores: int) -> None:
    """Print the estimates for some sizes."""
    print(
        f"\n{constants.dim} dimensions; {cores} cores, {constants.core_hour:g} dollars an hour each\n"
        f"{constants.encode:.3g} core-seconds encode a text; {constants.cut:.3g} s cut one\n"
        f"{constants.search:.3g} core-seconds search a passage for 1,000 questions\n"
        f"{constants.row:g} bytes of id and hash for each text"
    )
    print(f"{'texts':>13}{'cut h':>7}{'encode h':>9}{'search h':>9}{'dollars':>8}", end="")
    print("".join(f"{dtype + ' GB':>11}" for dtype in BYTES) + f"{'temp GB':>9}{'part MB':>8}")
    for n in SIZES:
        result = estimate(n, cores, constants)
        print(f"{n:>13,}{result.cut_hours:7.2f}{result.encode_hours:9.2f}{result.search_hours:9.2f}", end="")
        print(f"{result.dollars:8,.0f}" + "".join(f"{size / 1e9:11,.1f}" for size in result.disk.values()), end="")
        print(f"{result.digests / 1e9:9.1f}{result.part / 1e6:8.1f}")
