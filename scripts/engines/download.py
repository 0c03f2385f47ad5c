"""Downloads published weights, and verifies them."""

import dataclasses
import hashlib
import http.client
import os
import shutil
import sys
import urllib.error
import urllib.request

from .failure import ExportFailure

CHUNK = 1 << 20
# A connection without a byte for this long is dead.
TIMEOUT_SECONDS = 60


@dataclasses.dataclass(frozen=True)
class Published:
    """A published file. The digest pins it, wherever a copy comes from."""

    url: str
    sha256: str
    bytes: int


def download(published, path, *, url):
    """Downloads the file from `url` to `path` unless it is there. Honours HTTPS_PROXY, HTTP_PROXY and NO_PROXY.

    The file appears under its name only when its SHA-256 is verified. What arrived before an interruption stays in a
    `.part` file, where the next download continues.
    """
    if path.exists():
        check_digest(path, published, advice=f"remove it, or export it with --weights {path}")
        return
    partial = path.with_name(f"{path.name}.part")
    check_space(partial, published.bytes - size_of(partial))
    fetch(url, partial, published)
    try:
        check_digest(partial, published, advice="it was removed")
    except ExportFailure:
        partial.unlink()
        raise
    os.rename(partial, path)


def check_space(partial, missing):
    free = shutil.disk_usage(partial.parent).free
    if free < missing:
        raise ExportFailure(f"{partial.parent} has {free:,} bytes free; the download needs {missing:,}")


def fetch(url, partial, published):
    """Appends what is missing. Tries again as long as each attempt gets further than all before."""
    furthest = size_of(partial)
    while furthest < published.bytes:
        problem = "the connection was closed"
        try:
            receive(url, partial, published)
        except urllib.error.HTTPError as error:
            raise ExportFailure(f"{url} cannot be downloaded: the server answered {error.code}") from error
        except (OSError, http.client.HTTPException) as error:
            problem = getattr(error, "reason", error)
        size = size_of(partial)
        if size < published.bytes and size <= furthest:
            raise ExportFailure(f"{url} cannot be downloaded: {problem} after {size:,} of {published.bytes:,} bytes; try again")
        furthest = size


def receive(url, partial, published):
    size = size_of(partial)
    headers = {"User-Agent": "drape-export-engine"} | ({"Range": f"bytes={size}-"} if size else {})
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=TIMEOUT_SECONDS) as answer:
        # A server without ranges sends the whole file.
        size = size if answer.status == 206 else 0
        length = answer.headers.get("Content-Length")
        if length is not None and size + int(length) != published.bytes:
            raise ExportFailure(
                f"{url} is not the published file: it has {size + int(length):,} bytes, expected {published.bytes:,}"
            )
        # Unbuffered: a full disk is found by the write that does not fit.
        with open(partial, "ab" if size else "wb", buffering=0) as file:
            while size < published.bytes and (chunk := answer.read1(CHUNK)):
                append(file, chunk[: published.bytes - size])
                show_progress(size, size + len(chunk), published.bytes)
                size += len(chunk)


def append(file, chunk):
    rest = memoryview(chunk)
    try:
        while rest:
            rest = rest[file.write(rest) :]
    except OSError as error:
        raise ExportFailure(f"{file.name} cannot be written: {error.strerror or error}") from error


def check_digest(path, published, *, advice):
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != published.sha256:
        raise ExportFailure(
            f"{path} is not the published file: it has the SHA-256 {found}, expected {published.sha256}; {advice}"
        )


def size_of(path):
    return path.stat().st_size if path.exists() else 0


def show_progress(before, now, total):
    """A bar on a terminal, else a line for each tenth."""
    percent = 100 * now // total
    if sys.stderr.isatty():
        end = "\n" if now >= total else ""
        print(f"\r[{'#' * (percent // 5):<20}] {percent:>3} % of {total / 1e9:.2f} GB", end=end, file=sys.stderr, flush=True)
    elif 10 * before // total < 10 * now // total:
        print(f"downloaded {percent} % of {total / 1e9:.2f} GB", file=sys.stderr)
