#!/usr/bin/env python3
"""Make worker/models/exposure.onnx from the classifier that the npm package nsfwjs bundles (MobileNet V2, 224 px).

    npm pack nsfwjs@4.3.0
    pip install numpy onnx==1.23.2
    scripts/convert-nsfw-model.py nsfwjs-4.3.0.tgz worker/models

Needs node, which reads the two JavaScript files of the package. Each is checked by its SHA-256, so the same file comes out every
time. The weights stay the 8-bit numbers of the source, each behind the product and sum that the source prescribes, which the
runtime folds when it opens the file. Only the layers that occur in this model are known; any other one stops the conversion.
"""

import argparse
import base64
import hashlib
import json
import pathlib
import subprocess
import tarfile
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = "package/dist/models/mobilenet_v2"
FILES = {
    "model.min.js": "c32f104fd562b08cdff5ed69dfe1209643afa47e792fb12751d2949aa61a397a",
    "group1-shard1of1.min.js": "ef2e0a63f7d2c4960b37b024b669313f65d3c45cd59e9042636c55b39de53517",
}
SIDE = 224
CLASSES = 5


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("package", type=pathlib.Path, help="the packed npm package (.tgz)")
    parser.add_argument("folder", type=pathlib.Path, help="output folder of the ONNX file")
    arguments = parser.parse_args()
    description, shard = read_package(arguments.package)
    weights = read_weights(description["weightsManifest"], base64.b64decode(shard))
    data = Conversion(weights).to_model(description["modelTopology"]["model_config"]["config"])
    (arguments.folder / "exposure.onnx").write_bytes(data)
    print(f"exposure.onnx {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


def read_package(package):
    """The exports of both files: the description of the model, and its weights as base64."""
    with tarfile.open(package) as archive, tempfile.TemporaryDirectory() as folder:
        for name, sha256 in FILES.items():
            source = archive.extractfile(f"{FOLDER}/{name}").read()
            found = hashlib.sha256(source).hexdigest()
            if found != sha256:
                raise SystemExit(f"{name}: SHA-256 is {found}, expected {sha256}")
            pathlib.Path(folder, name).write_bytes(source)
        return [read_exports(pathlib.Path(folder, name)) for name in FILES]


def read_exports(path):
    program = "process.stdout.write(JSON.stringify(require(process.argv[1])))"
    return json.loads(subprocess.run(["node", "-e", program, path], check=True, capture_output=True).stdout)


def read_weights(manifest, data):
    """The 8-bit numbers, scale and minimum of each tensor by its name."""
    weights, offset = {}, 0
    for entry in (entry for group in manifest for entry in group["weights"]):
        quantization = entry["quantization"]
        if quantization["dtype"] != "uint8":
            raise SystemExit(f"{entry['name']}: {quantization['dtype']} is not known")
        size = int(np.prod(entry["shape"]))
        numbers = np.frombuffer(data, np.uint8, size, offset).reshape(entry["shape"])
        weights[entry["name"]] = numbers, quantization["scale"], quantization["min"]
        offset += size
    if offset != len(data):
        raise SystemExit(f"{len(data) - offset} bytes of weights are left over")
    return weights


class Conversion:
    """Conversion of the layers of one Keras model to ONNX. `shapes` contains (channels, height, width) of each layer's output."""

    def __init__(self, weights):
        self.weights = weights
        self.nodes = []
        self.initializers = []
        self.shapes = {}

    def to_model(self, config):
        for layer in config["layers"]:
            inputs = [node[0] for node in layer["inbound_nodes"][0]] if layer["inbound_nodes"] else []
            kind = layer["class_name"]
            if kind not in LAYERS:
                raise SystemExit(f"layer {kind} is not known")
            self.shapes[layer["name"]] = LAYERS[kind](self, layer["name"], layer["config"], inputs)
        self.add_node("Identity", [config["output_layers"][0][0]], "classes")
        shape = {"image": [1, SIDE, SIDE, 3], "classes": [1, CLASSES]}
        values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape[name]) for name in shape]
        graph = helper.make_graph(self.nodes, "exposure", values[:1], values[1:], self.initializers)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="drape"
        )
        origin = "npm nsfwjs 4.3.0 " + " ".join(f"{name} sha256 {sha256}" for name, sha256 in FILES.items())
        helper.set_model_props(model, {"source": origin, "license": "MIT"})
        onnx.checker.check_model(model, full_check=True)
        return model.SerializeToString(deterministic=True)

    def add_node(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))

    def add_constant(self, name, values):
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add_weights(self, name, order=None):
        numbers, scale, minimum = self.weights[name]
        numbers = numbers if order is None else numbers.transpose(order)
        self.add_node("Cast", [self.add_constant(f"{name}/numbers", numbers)], f"{name}/cast", to=TensorProto.FLOAT)
        self.add_node("Mul", [f"{name}/cast", self.add_constant(f"{name}/scale", np.float32(scale))], f"{name}/scaled")
        self.add_node("Add", [f"{name}/scaled", self.add_constant(f"{name}/minimum", np.float32(minimum))], name)
        return name


def input_layer(conversion, name, config, inputs):
    conversion.add_node("Transpose", ["image"], name, perm=[0, 3, 1, 2])
    return 3, SIDE, SIDE


def zero_padding(conversion, name, config, inputs):
    (top, bottom), (left, right) = config["padding"]
    pads = np.array([0, 0, top, left, 0, 0, bottom, right], np.int64)
    conversion.add_node("Pad", [inputs[0], conversion.add_constant(f"{name}/pads", pads)], name)
    channels, height, width = conversion.shapes[inputs[0]]
    return channels, height + top + bottom, width + left + right


def convolution(conversion, name, config, inputs):
    if config["use_bias"] or config["activation"] != "linear" or config["dilation_rate"] != [1, 1]:
        raise SystemExit(f"{name}: a bias, an activation and a dilation are not known")
    channels, *size = conversion.shapes[inputs[0]]
    depthwise = "depth_multiplier" in config
    # Source order: (height, width, in, out); depthwise (height, width, channels, 1).
    kernel = (
        conversion.add_weights(f"{name}/depthwise_kernel", [2, 3, 0, 1])
        if depthwise
        else conversion.add_weights(f"{name}/kernel", [3, 2, 0, 1])
    )
    window, stride = config["kernel_size"], config["strides"]
    pads, after = paddings(config["padding"], size, window, stride)
    group = channels if depthwise else 1
    conversion.add_node("Conv", [inputs[0], kernel], name, kernel_shape=window, strides=stride, pads=pads, group=group)
    return (channels if depthwise else config["filters"]), *after


def paddings(kind, size, window, stride):
    """ONNX's (top, left, bottom, right) of Keras's padding, which puts the odd pixel at the end, and the size afterwards."""
    if kind == "valid":
        return [0, 0, 0, 0], [(n - w) // s + 1 for n, w, s in zip(size, window, stride)]
    total = [max((-(-n // s) - 1) * s + w - n, 0) for n, w, s in zip(size, window, stride)]
    return [t // 2 for t in total] + [t - t // 2 for t in total], [-(-n // s) for n, s in zip(size, stride)]


def batch_normalization(conversion, name, config, inputs):
    parts = [conversion.add_weights(f"{name}/{part}") for part in ("gamma", "beta", "moving_mean", "moving_variance")]
    conversion.add_node("BatchNormalization", [inputs[0], *parts], name, epsilon=config["epsilon"])
    return conversion.shapes[inputs[0]]


def relu(conversion, name, config, inputs):
    if config["max_value"] != 6 or config["negative_slope"] != 0 or config["threshold"] != 0:
        raise SystemExit(f"{name}: only a ReLU up to 6 is known")
    bounds = [conversion.add_constant(f"{name}/{bound}", np.float32(bound)) for bound in (0, 6)]
    conversion.add_node("Clip", [inputs[0], *bounds], name)
    return conversion.shapes[inputs[0]]


def addition(conversion, name, config, inputs):
    conversion.add_node("Add", inputs, name)
    return conversion.shapes[inputs[0]]


def average(conversion, name, config, inputs):
    channels, *size = conversion.shapes[inputs[0]]
    if size != config["pool_size"]:
        raise SystemExit(f"{name}: only the average of a whole image is known")
    conversion.add_node("GlobalAveragePool", inputs, name)
    return channels, 1, 1


def flatten(conversion, name, config, inputs):
    channels, *size = conversion.shapes[inputs[0]]
    if size != [1, 1]:
        raise SystemExit(f"{name}: only one pixel is known")
    conversion.add_node("Flatten", inputs, name, axis=1)
    return (channels,)


def dense(conversion, name, config, inputs):
    weights = [conversion.add_weights(f"{name}/{part}") for part in ("kernel", "bias")]
    conversion.add_node("Gemm", [inputs[0], *weights], f"{name}/raw")
    kind = {"relu": "Relu", "softmax": "Softmax"}[config["activation"]]
    conversion.add_node(kind, [f"{name}/raw"], name)
    return (config["units"],)


def dropout(conversion, name, config, inputs):
    """Drops nothing outside training."""
    conversion.add_node("Identity", inputs, name)
    return conversion.shapes[inputs[0]]


LAYERS = {
    "Add": addition,
    "AveragePooling2D": average,
    "BatchNormalization": batch_normalization,
    "Conv2D": convolution,
    "Dense": dense,
    "DepthwiseConv2D": convolution,
    "Dropout": dropout,
    "Flatten": flatten,
    "InputLayer": input_layer,
    "ReLU": relu,
    "ZeroPadding2D": zero_padding,
}

if __name__ == "__main__":
    main()
