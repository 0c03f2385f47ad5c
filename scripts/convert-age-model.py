#!/usr/bin/env python3
"""Make worker/models/age.onnx from the age model that the npm package @vladmandic/face-api bundles (a small Xception, 112 px).

    npm pack @vladmandic/face-api@1.7.15
    pip install numpy onnx==1.23.2
    scripts/convert-age-model.py vladmandic-face-api-1.7.15.tgz worker/models

Both files of the model are checked by their SHA-256, so the same file comes out every time. The package contains the weights only;
the order of the layers is that of its TypeScript source. The weights stay the 8-bit numbers of the source, each behind the product
and sum that the source prescribes, which the runtime folds when it opens the file. The weights of the gender are left out.
"""

import argparse
import hashlib
import json
import pathlib
import tarfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FOLDER = "package/model"
FILES = {
    "age_gender_model-weights_manifest.json": "74b60bf3ebf981bf4e661e9cca3a185614e10b25d797118b62e2a68d3ff2569f",
    "age_gender_model.bin": "49f92bbc0afef2342c4385e4a2b0acb6d7a727c6f0aa539499719a81acf9abaa",
}
SIDE = 112
MEAN = np.array([122.782, 117.001, 104.298], np.float32) / 255
LEFT_OUT = {"fc/gender/weights", "fc/gender/bias"}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("package", type=pathlib.Path, help="the packed npm package (.tgz)")
    parser.add_argument("folder", type=pathlib.Path, help="output folder of the ONNX file")
    arguments = parser.parse_args()
    manifest, data = read_package(arguments.package)
    model = Conversion(read_weights(json.loads(manifest), data)).to_model()
    (arguments.folder / "age.onnx").write_bytes(model)
    print(f"age.onnx {len(model)} bytes, sha256 {hashlib.sha256(model).hexdigest()}")


def read_package(package):
    with tarfile.open(package) as archive:
        sources = [archive.extractfile(f"{FOLDER}/{name}").read() for name in FILES]
    for (name, sha256), source in zip(FILES.items(), sources):
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
            raise SystemExit(f"{entry['name']}: {quantization['dtype']} is not known")
        size = int(np.prod(entry["shape"]))
        numbers = np.frombuffer(data, kind, size, offset).reshape(entry["shape"])
        weights[entry["name"]] = numbers, quantization["scale"], quantization["min"]
        offset += numbers.nbytes
    if offset != len(data):
        raise SystemExit(f"{len(data) - offset} bytes of weights are left over")
    return weights


class Conversion:
    """Conversion of the network to ONNX. Each method adds nodes behind `x` and returns the name of the last one."""

    def __init__(self, weights):
        self.weights = weights
        self.unused = set(weights) - LEFT_OUT
        self.nodes = []
        self.initializers = []

    def to_model(self):
        x = self.node("Sub", ["image", self.constant("mean", MEAN)], "centred")
        x = self.node("Transpose", [x], "planes", perm=[0, 3, 1, 2])
        x = self.relu(self.convolution(x, "entry_flow/conv_in", size=SIDE, window=3, stride=2))
        x = self.reduction(x, "entry_flow/reduction_block_0", size=56, activates=False)
        x = self.reduction(x, "entry_flow/reduction_block_1", size=28)
        for block in ("middle_flow/main_block_0", "middle_flow/main_block_1"):
            y = x
            for i in range(3):
                y = self.separable(self.relu(y), f"{block}/separable_conv{i}")
            x = self.node("Add", [y, x], block)
        x = self.reduction(x, "exit_flow/reduction_block", size=14)
        x = self.relu(self.separable(x, "exit_flow/separable_conv"))
        x = self.node("Flatten", [self.node("GlobalAveragePool", [x], "mean_of_pixels")], "features")
        self.node("Gemm", [x, self.tensor("fc/age/weights"), self.tensor("fc/age/bias")], "age")
        if self.unused:
            raise SystemExit(f"weights are left over: {', '.join(sorted(self.unused))}")
        image, age = (
            helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
            for name, shape in (("image", [1, SIDE, SIDE, 3]), ("age", [1, 1]))
        )
        graph = helper.make_graph(self.nodes, "age", [image], [age], self.initializers)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="drape"
        )
        files = " ".join(f"{name} sha256 {sha256}" for name, sha256 in FILES.items())
        helper.set_model_props(model, {"source": f"npm @vladmandic/face-api 1.7.15 {files}", "license": "MIT"})
        onnx.checker.check_model(model, full_check=True)
        return model.SerializeToString(deterministic=True)

    def reduction(self, x, name, *, size, activates=True):
        """Two convolutions and a maximum that halve the size, beside a convolution that does so directly."""
        y = self.separable(self.relu(x) if activates else x, f"{name}/separable_conv0")
        y = self.separable(self.relu(y), f"{name}/separable_conv1")
        pads = paddings(size, window=3, stride=2)
        y = self.node("MaxPool", [y], f"{name}/maximum", kernel_shape=[3, 3], strides=[2, 2], pads=pads)
        beside = self.convolution(x, f"{name}/expansion_conv", size=size, window=1, stride=2)
        return self.node("Add", [y, beside], name)

    def separable(self, x, name):
        # Source order: (height, width, channels, 1) and (1, 1, in, out).
        kernel = self.tensor(f"{name}/depthwise_filter", [2, 3, 0, 1])
        channels = self.weights[f"{name}/depthwise_filter"][0].shape[2]
        y = self.node("Conv", [x, kernel], f"{name}/depthwise", kernel_shape=[3, 3], pads=[1, 1, 1, 1], group=channels)
        inputs = [y, self.tensor(f"{name}/pointwise_filter", [3, 2, 0, 1]), self.tensor(f"{name}/bias")]
        return self.node("Conv", inputs, name, kernel_shape=[1, 1])

    def convolution(self, x, name, *, size, window, stride):
        # Source order: (height, width, in, out).
        inputs = [x, self.tensor(f"{name}/filters", [3, 2, 0, 1]), self.tensor(f"{name}/bias")]
        pads = paddings(size, window=window, stride=stride)
        return self.node("Conv", inputs, name, kernel_shape=[window] * 2, strides=[stride] * 2, pads=pads)

    def relu(self, x):
        return self.node("Relu", [x], f"{x}/relu")

    def node(self, kind, inputs, output, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    def constant(self, name, values):
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def tensor(self, name, order=None):
        self.unused.remove(name)
        numbers, scale, minimum = self.weights[name]
        numbers = numbers if order is None else numbers.transpose(order)
        if scale is None:
            return self.constant(name, numbers)
        self.node("Cast", [self.constant(f"{name}/numbers", numbers)], f"{name}/cast", to=TensorProto.FLOAT)
        self.node("Mul", [f"{name}/cast", self.constant(f"{name}/scale", np.float32(scale))], f"{name}/scaled")
        return self.node("Add", [f"{name}/scaled", self.constant(f"{name}/minimum", np.float32(minimum))], name)


def paddings(size, *, window, stride):
    """ONNX's (top, left, bottom, right) of TensorFlow's padding "same", which puts the odd pixel at the end."""
    total = max((-(-size // stride) - 1) * stride + window - size, 0)
    return [total // 2] * 2 + [total - total // 2] * 2


if __name__ == "__main__":
    main()
