"""The golden drawing of a worker's self-test: drawn on the CPU, and recorded at some positions."""

import functools

import numpy as np

PLACES = 256
DIGITS = 6


class Graphs:
    """Runs graphs of a folder, each with named inputs, and returns its first output."""

    def __init__(self, path):
        # Imported lazily: slow to load, and most commands draw nothing.
        import onnxruntime

        onnxruntime.disable_telemetry_events()
        self.path, self.runtime = path, onnxruntime

    @functools.lru_cache(maxsize=1)
    def open(self, name):
        return self.runtime.InferenceSession(self.path / f"{name}.onnx", providers=["CPUExecutionProvider"])

    def run(self, name, **inputs):
        feeds = {key: np.ascontiguousarray(values, np.float32) for key, values in inputs.items()}
        return self.open(name).run(None, feeds)[0]


def note(drawn):
    """Evenly spaced values of the drawing, starting at the first value."""
    values = drawn.reshape(-1)
    places = np.arange(PLACES) * values.size // PLACES
    return [float(f"{value:.{DIGITS}g}") for value in values[places]]
