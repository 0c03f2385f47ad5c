"""Storage of weights: in the graph's own file, or in an external file that several graphs share."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from .failure import ExportFailure

# Offsets that a runtime can map into memory.
ALIGNMENT = 4096
HALF_RANGE = 65504.0


class InlineStorage:
    """Weights inside the graph's file, which is limited to 2 GiB."""

    def place(self, name, dtype, load):
        return numpy_helper.from_array(converted(name, load(), dtype), name)


class FileStorage:
    """Weights in an external file. A name that two graphs share is written once."""

    def __init__(self, path):
        self.path, self.placed = path, {}
        self.file = open(path, "wb")

    def place(self, name, dtype, load):
        if name not in self.placed:
            self.placed[name] = self.write(name, converted(name, load(), dtype))
        return self.placed[name]

    def write(self, name, values):
        self.file.write(b"\0" * (-self.file.tell() % ALIGNMENT))
        offset = self.file.tell()
        self.file.write(values.tobytes())
        tensor = TensorProto(name=name, data_type=helper.np_dtype_to_tensor_dtype(values.dtype), dims=values.shape)
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in {"location": self.path.name, "offset": offset, "length": values.nbytes}.items():
            tensor.external_data.add(key=key, value=str(value))
        return tensor

    def close(self):
        self.file.close()


def converted(name, values, dtype):
    if dtype == np.float16 and np.abs(values).max(initial=0) > HALF_RANGE:
        raise ExportFailure(
            f"{name} has values beyond ±{HALF_RANGE:.0f}, which 16 bits cannot hold: use --precision fp32"
        )
    return np.ascontiguousarray(values, dtype=dtype)
