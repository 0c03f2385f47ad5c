"""Compares an exported engine of CatVTON with what the diffusers library made of the same weights and inputs.

    catvton_parity.py REFERENCE FOLDER

FOLDER was exported with random weights of seed 1. Prints a table of the largest difference per stage, relative to the
stage's largest value, to stderr, and the same as JSON to stdout.
"""

import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from safetensors.numpy import load_file

GRAPHS = {"denoiser": ["sample", "time"], "encoder": ["picture"], "decoder": ["latent"]}


def main():
    reference, folder = load_file(sys.argv[1]), pathlib.Path(sys.argv[2])
    errors = {}
    for graph, inputs in GRAPHS.items():
        feeds = {name: reference[f"in/{name}"] for name in inputs}
        for name, values in run(folder / f"{graph}.onnx", feeds, reference).items():
            expected = reference[f"out/{name}"]
            errors[f"{graph} {name}"] = float(np.abs(values - expected).max() / np.abs(expected).max())
    for stage, error in errors.items():
        print(f"{stage:40} {error:.1e}", file=sys.stderr)
    print(json.dumps(errors))


def run(path, feeds, reference):
    """The outputs of a graph and the values inside of it that the reference has."""
    model = onnx.load(path)
    outputs = {output.name for output in model.graph.output}
    made = {value for node in model.graph.node for value in node.output} - outputs
    taps = [name for name in sorted(made) if f"out/{name}" in reference]
    model.graph.output.extend(helper.make_empty_tensor_value_info(tap) for tap in taps)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return {name: values.astype(np.float32) for name, values in zip(names, session.run(names, feeds), strict=True)}


main()
