#!/usr/bin/env python3
"""Make worker/models/age.onnx from the age model that the npm package @vladmandic/face-api bundles (a small Xception, 112 px).

    npm pack @vladmandic/face-api@1.7.15
    pip install numpy onnx==1.23.2
    scripts/convert-age-model.py vladmandic-face-api-1.7.15.tgz worker/models

The package contains only the weights; the order of the layers is that of its TypeScript source. The weights of the gender are left
out. `tensorflow_to_onnx.py` describes the ONNX file.
"""

import json

import numpy as np
from tensorflow_to_onnx import Graph, describe_source, parse_arguments, read_package, read_weights

FOLDER = "package/model"
FILES = {
    "age_gender_model-weights_manifest.json": "74b60bf3ebf981bf4e661e9cca3a185614e10b25d797118b62e2a68d3ff2569f",
    "age_gender_model.bin": "49f92bbc0afef2342c4385e4a2b0acb6d7a727c6f0aa539499719a81acf9abaa",
}
SIDE = 112
MEAN = np.array([122.782, 117.001, 104.298], np.float32) / 255
LEFT_OUT = {"fc/gender/weights", "fc/gender/bias"}


def main():
    arguments = parse_arguments(__doc__.split("\n")[0])
    manifest, data = read_package(arguments.package, FOLDER, FILES)
    network = Network(read_weights(json.loads(manifest), data))
    network.build()
    network.write(
        arguments.folder / "age.onnx",
        shapes={"image": [1, SIDE, SIDE, 3], "age": [1, 1]},
        source=describe_source("@vladmandic/face-api 1.7.15", FILES),
    )


class Network(Graph):
    """The network as ONNX. Methods for layers add nodes behind `x` and return the name of the last one."""

    def __init__(self, weights):
        super().__init__(weights)
        self.unused = set(weights) - LEFT_OUT

    def build(self):
        x = self.add_node("Sub", ["image", self.add_constant("mean", MEAN)], "centred")
        x = self.add_node("Transpose", [x], "planes", perm=[0, 3, 1, 2])
        x = self.relu(self.convolution(x, "entry_flow/conv_in", size=SIDE, window=3, stride=2))
        x = self.reduction(x, "entry_flow/reduction_block_0", size=56, activates=False)
        x = self.reduction(x, "entry_flow/reduction_block_1", size=28)
        for block in ("middle_flow/main_block_0", "middle_flow/main_block_1"):
            y = x
            for i in range(3):
                y = self.separable(self.relu(y), f"{block}/separable_conv{i}")
            x = self.add_node("Add", [y, x], block)
        x = self.reduction(x, "exit_flow/reduction_block", size=14)
        x = self.relu(self.separable(x, "exit_flow/separable_conv"))
        x = self.add_node("Flatten", [self.add_node("GlobalAveragePool", [x], "mean_of_pixels")], "features")
        self.add_node("Gemm", [x, self.add_weights("fc/age/weights"), self.add_weights("fc/age/bias")], "age")
        if self.unused:
            raise SystemExit(f"weights are not used: {', '.join(sorted(self.unused))}")

    def reduction(self, x, name, *, size, activates=True):
        """Two convolutions and a maximum that halve the size, beside a convolution that does so directly."""
        y = self.separable(self.relu(x) if activates else x, f"{name}/separable_conv0")
        y = self.separable(self.relu(y), f"{name}/separable_conv1")
        pads = paddings(size, window=3, stride=2)
        y = self.add_node("MaxPool", [y], f"{name}/maximum", kernel_shape=[3, 3], strides=[2, 2], pads=pads)
        beside = self.convolution(x, f"{name}/expansion_conv", size=size, window=1, stride=2)
        return self.add_node("Add", [y, beside], name)

    def separable(self, x, name):
        # Source order: (height, width, channels, 1) and (1, 1, in, out).
        kernel = self.add_weights(f"{name}/depthwise_filter", [2, 3, 0, 1])
        channels = self.weights[f"{name}/depthwise_filter"][0].shape[2]
        y = self.add_node("Conv", [x, kernel], f"{name}/depthwise", kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=channels)
        inputs = [y, self.add_weights(f"{name}/pointwise_filter", [3, 2, 0, 1]), self.add_weights(f"{name}/bias")]
        return self.add_node("Conv", inputs, name, kernel_shape=[1, 1])

    def convolution(self, x, name, *, size, window, stride):
        # Source order: (height, width, in, out).
        inputs = [x, self.add_weights(f"{name}/filters", [3, 2, 0, 1]), self.add_weights(f"{name}/bias")]
        pads = paddings(size, window=window, stride=stride)
        return self.add_node("Conv", inputs, name, kernel_shape=[window] * 2, strides=[stride] * 2, pads=pads)

    def relu(self, x):
        return self.add_node("Relu", [x], f"{x}/relu")

    def add_weights(self, name, order=None):
        self.unused.remove(name)
        return super().add_weights(name, order)


def paddings(size, *, window, stride):
    """ONNX's (top, left, bottom, right) of TensorFlow's padding "same", which puts the odd pixel at the end."""
    total = max((-(-size // stride) - 1) * stride + window - size, 0)
    return [total // 2] * 2 + [total - total // 2] * 2


if __name__ == "__main__":
    main()
