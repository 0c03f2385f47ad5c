#!/usr/bin/env python3
"""Make worker/models/exposure.onnx from the classifier that the npm package nsfwjs bundles (MobileNet V2, 224 px).

    npm pack nsfwjs@4.3.0
    pip install numpy onnx==1.23.2
    scripts/convert-nsfw-model.py nsfwjs-4.3.0.tgz worker/models

Requires node, which reads the two JavaScript files of the package. The conversion supports only the layers of this model, and fails for any
other layer. `tensorflow_to_onnx.py` describes the ONNX file.
"""

import base64
import json
import subprocess
import tempfile

import numpy as np
from tensorflow_to_onnx import Graph, describe_source, parse_arguments, read_package, read_weights

FOLDER = "package/dist/models/mobilenet_v2"
FILES = {
    "model.min.js": "c32f104fd562b08cdff5ed69dfe1209643afa47e792fb12751d2949aa61a397a",
    "group1-shard1of1.min.js": "ef2e0a63f7d2c4960b37b024b669313f65d3c45cd59e9042636c55b39de53517",
}
SIDE = 224
CLASSES = 5


def main():
    arguments = parse_arguments(__doc__.split("\n")[0])
    description, shard = map(read_exports, read_package(arguments.package, FOLDER, FILES))
    network = Network(read_weights(description["weightsManifest"], base64.b64decode(shard)))
    network.build(description["modelTopology"]["model_config"]["config"])
    network.write(
        arguments.folder / "exposure.onnx",
        shapes={"image": [1, SIDE, SIDE, 3], "classes": [1, CLASSES]},
        source=describe_source("nsfwjs 4.3.0", FILES),
    )


def read_exports(source):
    """The exports of a JavaScript file: the description of the model, or its weights as base64."""
    program = "process.stdout.write(JSON.stringify(require(process.argv[1])))"
    with tempfile.NamedTemporaryFile(suffix=".js") as file:
        file.write(source)
        file.flush()
        return json.loads(subprocess.run(["node", "-e", program, file.name], check=True, capture_output=True).stdout)


class Network(Graph):
    """The layers of one Keras model as ONNX. `shapes` contains (channels, height, width) of the output of each layer."""

    def __init__(self, weights):
        super().__init__(weights)
        self.shapes = {}

    def build(self, config):
        for layer in config["layers"]:
            inputs = [node[0] for node in layer["inbound_nodes"][0]] if layer["inbound_nodes"] else []
            kind = layer["class_name"]
            if kind not in LAYERS:
                raise SystemExit(f"the layer {kind} is not supported")
            self.shapes[layer["name"]] = LAYERS[kind](self, layer["name"], layer["config"], inputs)
        self.add_node("Identity", [config["output_layers"][0][0]], "classes")


def input_layer(network, name, config, inputs):
    network.add_node("Transpose", ["image"], name, perm=[0, 3, 1, 2])
    return 3, SIDE, SIDE


def zero_padding(network, name, config, inputs):
    (top, bottom), (left, right) = config["padding"]
    pads = np.array([0, 0, top, left, 0, 0, bottom, right], np.int64)
    network.add_node("Pad", [inputs[0], network.add_constant(f"{name}/pads", pads)], name)
    channels, height, width = network.shapes[inputs[0]]
    return channels, height + top + bottom, width + left + right


def convolution(network, name, config, inputs):
    if config["use_bias"] or config["activation"] != "linear" or config["dilation_rate"] != [1, 1]:
        raise SystemExit(f"{name}: a bias, an activation and a dilation are not supported")
    channels, *size = network.shapes[inputs[0]]
    depthwise = "depth_multiplier" in config
    # Source order: (height, width, in, out); depthwise (height, width, channels, 1).
    kernel = (
        network.add_weights(f"{name}/depthwise_kernel", [2, 3, 0, 1])
        if depthwise
        else network.add_weights(f"{name}/kernel", [3, 2, 0, 1])
    )
    window, stride = config["kernel_size"], config["strides"]
    pads, after = paddings(config["padding"], size, window, stride)
    group = channels if depthwise else 1
    network.add_node("Conv", [inputs[0], kernel], name, kernel_shape=window, strides=stride, pads=pads, group=group)
    return (channels if depthwise else config["filters"]), *after


def paddings(kind, size, window, stride):
    """ONNX's (top, left, bottom, right) of Keras's padding, which puts the odd pixel at the end, and the size afterwards."""
    if kind == "valid":
        return [0, 0, 0, 0], [(n - w) // s + 1 for n, w, s in zip(size, window, stride)]
    total = [max((-(-n // s) - 1) * s + w - n, 0) for n, w, s in zip(size, window, stride)]
    return [t // 2 for t in total] + [t - t // 2 for t in total], [-(-n // s) for n, s in zip(size, stride)]


def batch_normalization(network, name, config, inputs):
    parts = [network.add_weights(f"{name}/{part}") for part in ("gamma", "beta", "moving_mean", "moving_variance")]
    network.add_node("BatchNormalization", [inputs[0], *parts], name, epsilon=config["epsilon"])
    return network.shapes[inputs[0]]


def relu(network, name, config, inputs):
    if config["max_value"] != 6 or config["negative_slope"] != 0 or config["threshold"] != 0:
        raise SystemExit(f"{name}: only a ReLU up to 6 is supported")
    bounds = [network.add_constant(f"{name}/{bound}", np.float32(bound)) for bound in (0, 6)]
    network.add_node("Clip", [inputs[0], *bounds], name)
    return network.shapes[inputs[0]]


def addition(network, name, config, inputs):
    network.add_node("Add", inputs, name)
    return network.shapes[inputs[0]]


def average(network, name, config, inputs):
    channels, *size = network.shapes[inputs[0]]
    if size != config["pool_size"]:
        raise SystemExit(f"{name}: only the average of a whole image is supported")
    network.add_node("GlobalAveragePool", inputs, name)
    return channels, 1, 1


def flatten(network, name, config, inputs):
    channels, *size = network.shapes[inputs[0]]
    if size != [1, 1]:
        raise SystemExit(f"{name}: only one pixel is supported")
    network.add_node("Flatten", inputs, name, axis=1)
    return (channels,)


def dense(network, name, config, inputs):
    weights = [network.add_weights(f"{name}/{part}") for part in ("kernel", "bias")]
    network.add_node("Gemm", [inputs[0], *weights], f"{name}/raw")
    kind = {"relu": "Relu", "softmax": "Softmax"}[config["activation"]]
    network.add_node(kind, [f"{name}/raw"], name)
    return (config["units"],)


def dropout(network, name, config, inputs):
    """Drops nothing outside training."""
    network.add_node("Identity", inputs, name)
    return network.shapes[inputs[0]]


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
