"""Sources of weights: safetensors files, or a random number generator."""

import dataclasses
import hashlib
import json
import math
import zlib

import ml_dtypes  # noqa: F401  numpy reads bfloat16 once this is imported
import numpy as np
from safetensors import SafetensorError, safe_open

from .failure import ExportFailure

DTYPES = {"BF16", "F16", "F32"}
LISTED = 8


class Checkpoint:
    """The tensors of a safetensors file, read one at a time."""

    def __init__(self, path):
        self.path = path
        try:
            self.file = safe_open(path, framework="numpy")
        except (SafetensorError, OSError) as error:
            raise ExportFailure(f"{path} cannot be read as a safetensors file (is it truncated?): {error}") from error
        slices = {name: self.file.get_slice(name) for name in self.file.keys()}
        self.shapes = {name: tuple(part.get_shape()) for name, part in slices.items()}
        self.dtypes = {name: part.get_dtype() for name, part in slices.items()}

    def configuration(self, kind):
        """The data class `kind` with the sizes of the metadata field `config` instead of its defaults."""
        written = (self.file.metadata() or {}).get("config", "{}")
        try:
            members = dict(json.loads(written))
        except (ValueError, TypeError) as error:
            raise ExportFailure(f"{self.path}: the sizes in the metadata cannot be read: {written[:80]}") from error
        unknown = members.keys() - {field.name for field in dataclasses.fields(kind)}
        if unknown:
            raise ExportFailure(f"{self.path}: the metadata names unknown sizes: {', '.join(sorted(unknown))}")
        return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in members.items()})

    def check(self, expected, *, ignored=lambda name: False):
        """Fails with a list of all tensors that are missing, have a wrong shape or type, or belong to another model.

        `expected` maps names to shapes; names for which `ignored` holds may be there or not, whatever they are.
        """
        missing = sorted(expected.keys() - self.shapes.keys())
        foreign = sorted(name for name in self.shapes.keys() - expected.keys() if not ignored(name))
        present = [name for name in expected if name in self.shapes]
        problems = {
            "missing": missing,
            "of another shape": [
                f"{name} is {present_shape(self.shapes[name])}, expected {present_shape(expected[name])}"
                for name in present
                if self.shapes[name] != tuple(expected[name])
            ],
            "of a type that is none of BF16, F16, F32": [
                f"{name} is {self.dtypes[name]}" for name in present if self.dtypes[name] not in DTYPES
            ],
            "not of this model": foreign,
        }
        found = [f"{kind}: {present_list(names)}" for kind, names in problems.items() if names]
        if found:
            raise ExportFailure(f"{self.path} does not contain the weights of this engine\n  " + "\n  ".join(found))

    def read(self, name):
        """The tensor as 32-bit floats. Fails if a value is infinite or NaN."""
        values = self.file.get_tensor(name).astype(np.float32)
        if not np.isfinite(values).all():
            raise ExportFailure(f"{self.path}: {name} has a value that is infinite or not a number")
        return values

    def source(self):
        """The manifest's source of the weights."""
        with open(self.path, "rb") as file:
            return f"{self.path.name} sha256 {hashlib.file_digest(file, 'sha256').hexdigest()}"


class RandomCheckpoint:
    """Random weights that keep values in range: for tests, and to measure memory and time.

    Each tensor depends on the seed and its own name alone. Only additions and multiplications by constants follow the
    generator's bits, so that every machine gets the same numbers.
    """

    def __init__(self, shapes, seed, spread):
        """`spread(name, shape)` returns mean and standard deviation of a tensor."""
        self.shapes, self.seed, self.spread = shapes, seed, spread

    def read(self, name):
        shape = self.shapes[name]
        middle, deviation = self.spread(name, shape)
        generator = np.random.Generator(np.random.Philox(key=[self.seed, zlib.crc32(name.encode())]))
        uniform = generator.random(shape, dtype=np.float32) - np.float32(0.5)
        return np.float32(middle) + uniform * np.float32(deviation * math.sqrt(12))

    def source(self):
        return f"random weights, seed {self.seed}"


def present_shape(shape):
    return "×".join(map(str, shape)) or "a single number"


def present_list(names):
    shown = "; ".join(names[:LISTED])
    return shown if len(names) <= LISTED else f"{shown}; and {len(names) - LISTED} more"
