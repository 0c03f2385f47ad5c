"""A folder that is created atomically."""

import contextlib
import os
import secrets
import shutil
import signal

from .failure import ExportFailure


@contextlib.contextmanager
def new_folder(path):
    """Yields a folder to fill, which is renamed to `path` on success and removed otherwise.

    Fails when `path` is there already or cannot be written. A signal to end removes the folder and ends the process.
    """
    if path.exists():
        raise ExportFailure(f"{path} already exists: remove it, or choose another folder")
    if not path.parent.is_dir():
        raise ExportFailure(f"{path.parent} is not a folder")
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
    remove_at_end(partial)
    try:
        partial.mkdir()
        yield partial
        for file in partial.iterdir():
            flush(file)
        os.rename(partial, path)
    except OSError as error:
        raise ExportFailure(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def remove_at_end(folder):
    def end(number, _frame):
        shutil.rmtree(folder, ignore_errors=True)
        # Not an exception, which compiled code that calls back would swallow.
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)


def flush(file):
    """The renamed folder must survive a power failure."""
    with open(file, "rb") as opened:
        os.fsync(opened.fileno())
