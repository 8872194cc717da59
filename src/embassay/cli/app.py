"""The command line. Tables go to standard output, everything else to standard error."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any, Literal, TextIO

from cyclopts import App, CycloptsError

from embassay._version import __version__
from embassay.cli.adapt import adapt
from embassay.cli.bless import bless
from embassay.cli.build import add_build_command, build, rate
from embassay.cli.cache import cache
from embassay.cli.check import check
from embassay.cli.compare import compare
from embassay.cli.encode import encode
from embassay.cli.parameters import FAILED_IN_PART, FINE, WRONG_INPUT, Corpora, Encoders, Flag, OneEncoder
from embassay.cli.plan import plan
from embassay.cli.report import report
from embassay.cli.reproduce import reproduce
from embassay.cli.run import run
from embassay.cli.train import train
from embassay.core.errors import EmbassayError, EncoderError, say

INTERRUPTED = 130
Kind = Literal["encoders", "retrievers", "corpora", "diagnostics", "builders", "formats", "profiles", "metrics"]

# The modules of the commands import what they need inside their functions, so that 'embassay --help' stays fast.
app = App(
    name="embassay",
    help="Diagnostics for sentence encoders, with 95 % intervals.",
    version=__version__,
    help_format="plaintext",
    # Ctrl-C must reach exit_code_of, which tells the user what is kept.
    suppress_keyboard_interrupt=False,
)
for command in (
    run,
    compare,
    plan,
    train,
    adapt,
    build,
    rate,
    encode,
    check,
    bless,
    report,
    reproduce,
    cache,
):
    app.command(command)


@app.command
def demo() -> int:
    """Show on a built-in handbook what an answer looks like, and what the gate catches. No key, file or download.

    It takes all-MiniLM-L6-v2 if its weights are on this disk, else hashed words.
    """
    from embassay.cli.demo import show as show_demo

    show_demo(exit_code_of)
    return FINE


@app.command
def look(
    *,
    corpus: Corpora = [],  # noqa: B006
    encoder: Encoders = [],  # noqa: B006
    follow_links: Flag = False,
) -> int:
    """Show how corpora are read and, with -e, what would be encoded; nothing is encoded.

    Parameters
    ----------
    corpus
        [NAME=]SOURCE[,option=value…], repeatable; the built-in corpora by default.
    encoder
        [NAME=]SPEC[,option=value…], repeatable.
    follow_links
        Follow symbolic links in the folder of a corpus; by default they are skipped.
    """
    from embassay.cli.look import show
    from embassay.run.request import RunRequest

    show(RunRequest.of(None, encoders=encoder, corpora=corpus, follow_links=follow_links))
    return FINE


@app.command
def show(
    run: Path,
    diagnostic: str = "",
    *,
    signatures: Flag = False,
    failures: Flag = False,
    encoder: OneEncoder = "",
    against: str = "",
) -> int:
    """Print the full tables of a run, with verdicts, findings and tests; or what an encoder fails on.

    Parameters
    ----------
    run
        The run's folder.
    diagnostic
        Only this diagnostic; all of them by default.
    signatures
        Print also everything that the figures depend on.
    failures
        Print the items that the best candidate is wrong about instead, with what it chose or found and who is right.
    encoder
        Print the failures of the encoder with this label.
    against
        Print those on which it is worse than the encoder with this label, such as those that a reranker breaks.
    """
    from embassay.run.command import show_again

    show_again(run, diagnostic, signatures=signatures, failures=failures, encoder=encoder, against=against)
    return FINE


@app.command(name="list")
def list_(what: Kind | None = None, *, cite: Flag = False) -> int:
    """List encoders, corpora, diagnostics, metrics and more, and the command that installs what is missing.

    Parameters
    ----------
    what
        All but metrics by default.
    cite
        Print the references in BibTeX: of this package and of the method behind each diagnostic.
    """
    from embassay.cli import catalogue

    if cite:
        catalogue.cite()
    else:
        catalogue.show(what)
    return FINE


@app.command
def doctor() -> int:
    """Print what is installed: versions, models, cache, devices; to paste into a bug report."""
    from embassay.cli import doctor as doctor_module

    doctor_module.show()
    return FINE


def main() -> None:
    """Run the command line and exit.

    0 fine, 1 a check found a regression, 2 wrong input, 3 an encoder failed, 4 a strict check is inconclusive,
    130 interrupted.
    """
    # A scheduler ends a job with this signal; without a handler worker processes and locks would not be cleaned up.
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
    with redirect_stdout(_Output(sys.stdout)), redirect_stderr(_Output(sys.stderr)):
        code = exit_code_of(sys.argv[1:])
        # What an error leaves in the buffer.
        with suppress(OSError):
            sys.stdout.flush()
    sys.exit(code)


class _Output:
    """A standard stream whose reader may go away (``| head``): the rest is dropped, and the command continues."""

    def __init__(self, stream: TextIO | None):
        # A shell may have closed the stream (>&-); Python then has none.
        self._stream = stream or Path(os.devnull).open("w")  # noqa: SIM115 - open until the process ends

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text; return its length."""
        with self._dropped():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what is buffered."""
        with self._dropped():
            self._stream.flush()

    @contextmanager
    def _dropped(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # What is still buffered goes nowhere: the interpreter flushes at exit, and would fail again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            if not isinstance(error, BrokenPipeError):
                raise


def exit_code_of(arguments: list[str]) -> int:
    """Run the command line and return its exit code; an expected error is printed as one line."""
    try:
        # cyclopts needs to know the command before it reads the arguments.
        add_build_command(arguments)
        code: int | None = app(arguments, exit_on_error=False, print_error=False, result_action="return_value")
        # Here, because a full disk is reported below.
        sys.stdout.flush()
        # --help and --version return no code.
        return code or FINE
    except CycloptsError as error:
        # Of a number out of its range only the limit, without the words of pydantic for programmers.
        problem = re.sub(r"(?s)\d+ validation error.*? Input should (.*?) \[type=.*", r"It must \1", str(error))
        command = " ".join(("embassay", *(error.command_chain or ())))
        say(f"embassay: {problem} (see '{command} --help')")
        return WRONG_INPUT
    except EmbassayError as error:
        say(f"embassay: {error}")
        # All other errors of the package are about the input.
        return FAILED_IN_PART if isinstance(error, EncoderError) else WRONG_INPUT
    except KeyboardInterrupt:
        say("interrupted; finished work is kept: repeat the command to continue")
        return INTERRUPTED
    except OSError as error:
        # Errors with files become InputError where the file is known. The rest is the system's, such as a full disk.
        say(f"embassay: {error.strerror or error}")
        return WRONG_INPUT


if __name__ == "__main__":
    main()
