"""A folder that appears whole or not at all."""

import contextlib
import os
import pathlib
import shutil
import tempfile

from .failure import ExportFailure


@contextlib.contextmanager
def new_folder(path):
    """Yields a folder to fill, which becomes `path` when all went well and is removed otherwise.

    Fails when `path` is there already or cannot be written.
    """
    if path.exists():
        raise ExportFailure(f"{path} is there already: remove it, or name another folder")
    if not path.parent.is_dir():
        raise ExportFailure(f"{path.parent} is not a folder")
    partial = None
    try:
        partial = pathlib.Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent))
        yield partial
        partial.chmod(0o755)
        for file in partial.iterdir():
            flush(file)
        os.rename(partial, path)
    except OSError as error:
        raise ExportFailure(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        if partial is not None:
            shutil.rmtree(partial, ignore_errors=True)


def flush(file):
    """What is renamed into place must not be lost with the machine's power."""
    with open(file, "rb") as opened:
        os.fsync(opened.fileno())
