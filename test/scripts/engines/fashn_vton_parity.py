"""Compares exported engines of FASHN VTON with what the published implementation made of the same weights and inputs.

    fashn_vton_parity.py FIXTURES TINY TINY2

TINY and TINY2 are folders that were exported from the fixtures of these names. Prints a table of the largest difference
per stage, relative to the stage's largest value, to stderr, and the same as JSON to stdout.
"""

import json
import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from engines.fashn_vton.configuration import Configuration
from engines.fashn_vton.network import angles
from onnx import helper
from safetensors.numpy import load_file

# Value in the graph → stage in the reference.
CONDITIONING = ["timestep_embedding", "t_embedder", "y_embedder", "vec"]
NETWORK = {
    "x_embedder": "x_embedder",
    "x_patch_mixer.0.norm.query_norm": "x_patch_mixer.0/q_normed",
    "x_patch_mixer.0.norm.key_norm": "x_patch_mixer.0/k_normed",
    "x_patch_mixer.0.norm.query_norm.turned": "x_patch_mixer.0/q_rope",
    "x_patch_mixer.0.norm.key_norm.turned": "x_patch_mixer.0/k_rope",
    "x_patch_mixer.0": "x_patch_mixer.0",
    "double_blocks.0.img": "double_blocks.0.img",
    "double_blocks.0.txt": "double_blocks.0.txt",
    "single_blocks.0": "single_blocks.0",
    "final_layer": "final_layer",
}
GUIDANCE = 1.5


def main():
    fixtures, tiny, tiny2 = map(pathlib.Path, sys.argv[1:])
    errors = {
        "full": compare_tables(load_file(fixtures / "full-tables.safetensors")),
        "tiny": compare_forward(tiny, load_file(fixtures / "tiny.forward.safetensors")),
        "tiny2": compare_forward(tiny2, load_file(fixtures / "tiny2.forward.safetensors")),
        "sampler": compare_sampler(tiny, load_file(fixtures / "tiny.sampler4.safetensors")),
    }
    for case, stages in errors.items():
        for stage, error in stages.items():
            print(f"{case:8} {stage:28} {error:.1e}", file=sys.stderr)
    print(json.dumps(errors))


def compare_tables(reference):
    turns = angles(Configuration())[reference["rope_rows"]]
    return {
        "cosines of places": difference(np.cos(turns), reference["rope_cos"]),
        "sines of places": difference(np.sin(turns), reference["rope_sin"]),
    }


def compare_forward(folder, reference):
    inputs = {name[3:]: values for name, values in reference.items() if name.startswith("in/")}
    inputs["garment_categories"] = inputs["garment_categories"].astype(np.float32)
    mask = inputs.pop("mask").astype(bool)
    masked = {name: values if name in ("x", "times") else zero_rows(values, mask) for name, values in inputs.items()}
    found = run_all(folder, masked)
    stages = {stage: (found[name], reference[f"out/{stage}"]) for name, stage in expected_stages(reference)}
    stages["velocity"] = (found["velocity"], reference["out/velocity"])
    stages["velocity_unmasked"] = (run_all(folder, inputs)["velocity"], reference["out/velocity_unmasked"])
    return {stage: difference(*pair) for stage, pair in stages.items()}


def expected_stages(reference):
    stages = {name: name for name in [*CONDITIONING, "garment_embedder"]} | NETWORK
    return [(name, stage) for name, stage in stages.items() if f"out/{stage}" in reference]


def zero_rows(values, mask):
    return np.where(mask.reshape(-1, *[1] * (values.ndim - 1)), values, values.dtype.type(0))


def run_all(folder, inputs):
    """Values of all graphs for one time per row, by name."""
    person = run(folder, "person", {"person": inputs["ca_images"], "person_pose": inputs["person_poses"]})
    garment = run(folder, "garment", {"garment": inputs["garment_images"], "garment_pose": inputs["garment_poses"]})
    times = {"time": inputs["times"], "category": inputs["garment_categories"]}
    conditioning = run(folder, "modulation", times, CONDITIONING)
    feeds = {"sample": inputs["x"], **person, **garment, "modulation": conditioning["modulation"]}
    network = run(folder, "velocity", feeds, NETWORK)
    return {"garment_embedder": garment["garment_tokens"], **conditioning, **network}


def compare_sampler(folder, reference):
    """Four steps with guidance, of which the last goes without: in one call, and as three and one."""
    inputs = {name[3:]: values for name, values in reference.items() if name.startswith("in/")}
    none = {name: np.concatenate([values, np.zeros_like(values)]) for name, values in inputs.items()}
    times = reference["timesteps"].astype(np.float32)
    category = float(inputs["garment_categories"][0])
    vectors = {"time": np.repeat(times[:-1], 2), "category": np.array([category, 0] * 4, np.float32)}
    modulation = run(folder, "modulation", vectors)["modulation"].reshape(4, 2, -1)
    tokens = {
        **run(folder, "person", {"person": none["ca_images"], "person_pose": none["person_poses"]}),
        **run(folder, "garment", {"garment": none["garment_images"], "garment_pose": none["garment_poses"]}),
    }

    def denoise(samples, steps, guided):
        lengths = np.diff(times)[steps, None]
        shares = np.repeat([[GUIDANCE, 1 - GUIDANCE]] if guided else [[1]], len(samples), axis=1)
        feeds = {
            "sample": samples,
            **tokens,
            "modulation": modulation[steps],
            "row_condition": np.repeat(np.arange(1 + guided, dtype=np.float32), len(samples)),
            "step_weights": (lengths * shares).astype(np.float32),
        }
        return run(folder, "denoise", feeds)["denoised"]

    noise = inputs["noise"]
    errors = {}
    for i in range(3):
        errors[f"after {i + 1} guided"] = difference(denoise(noise, slice(0, i + 1), True), reference[f"x_after/{i}"])
    several = np.concatenate([noise, noise[:, :, ::-1]])
    apart = [denoise(sample[None], slice(0, 3), True) for sample in several]
    errors["two samples at once"] = difference(denoise(several, slice(0, 3), True), np.concatenate(apart))
    last = denoise(denoise(noise, slice(0, 3), True), slice(3, 4), False)
    errors["after 3 guided and 1 plain"] = difference(last, reference["x_after/3"])
    pixels = np.trunc((np.clip(last[0], -1, 1) + 1) * np.float32(0.5) * 255).astype(np.uint8).transpose(1, 2, 0)
    errors["share of bytes that differ"] = float((pixels != reference["final_u8_hwc"]).mean())
    return errors


def run(folder, name, feeds, taps=()):
    """The outputs of a graph, and the values inside of it that `taps` names, where it has them."""
    path = folder / f"{name}.onnx"
    model = onnx.load(path)
    made = {output for node in model.graph.node for output in node.output}
    model.graph.output.extend(helper.make_empty_tensor_value_info(tap) for tap in taps if tap in made)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    outputs = [output.name for output in session.get_outputs()]
    return {name: values.astype(np.float32) for name, values in zip(outputs, session.run(outputs, feeds), strict=True)}


def difference(found, reference):
    found = arranged(found, reference)
    return float(np.abs(found - reference).max() / np.abs(reference).max())


def arranged(found, reference):
    """As the reference has it: channels before patches, heads apart."""
    if found.ndim == reference.ndim:
        # Of the last block only the image's tokens are worked out, which come second.
        return found if found.shape == reference.shape else padded(found, reference)
    rows, tokens, width = found.shape
    if reference.shape[1] == width:
        return found.transpose(0, 2, 1).reshape(reference.shape)
    return found.reshape(rows, tokens, reference.shape[1], -1).transpose(0, 2, 1, 3)


def padded(found, reference):
    half = reference.shape[1] // 2
    assert found.shape[1] == half
    return np.concatenate([reference[:, :half], found], axis=1)


main()
