"""Exports FASHN VTON: its graphs, and the manifest for workers."""

import dataclasses
import functools
import math

from ..checkpoint import Checkpoint, RandomCheckpoint
from ..download import Published
from ..golden import note
from . import graphs
from .configuration import (
    CATEGORIES,
    SIZES,
    UNUSED,
    Configuration,
    check_configuration,
    random_spread,
    tensor_shapes,
)
from .golden import draw_golden
from .pose import add_pose_options, take_pose

__all__ = ["HELP", "PUBLISHED", "add_options", "write"]
HELP = "FASHN VTON v1.5, Apache-2.0"
# The weights, in their revision of 2026-02-01.
PUBLISHED = Published(
    url="https://huggingface.co/fashn-ai/fashn-vton-1.5/resolve/7720683168567eb5a2a4c67f15116c6e29c83ded/model.safetensors",
    sha256="d6cd38286885bc29fa487ea9383f80ffeb95862e7747c630d42c5d3c05bdd35a",
    bytes=1_943_668_048,
)
MIB = 1024 * 1024
# Memory of a worker beside the engine's: 640 for the models of its image, counted, and 768 for the context, kernels and workspaces
# of CUDA, not measured.
WORKER_MIB = 640 + 768


def write(folder, arguments):
    """Writes all graphs. Returns the engine's manifest and the source of the weights."""
    checkpoint, c = open_random(arguments) if arguments.random else open_published(arguments.weights)
    builds = {
        name: functools.partial(getattr(graphs, f"build_{name}"), checkpoint, c)
        for name in ("person", "garment", "modulation", "velocity", "denoise")
    }
    folder.write_small("person", builds["person"])
    folder.write_small("garment", builds["garment"])
    folder.write_large({"modulation": builds["modulation"]}, weights_file="modulation.weights")
    folder.write_large({name: builds[name] for name in ("velocity", "denoise")}, weights_file="transformer.weights")
    described = manifest(c, half=folder.half)
    if auxiliary := take_pose(folder, arguments):
        described["auxiliary"] = auxiliary
    if arguments.golden:
        described["golden"] = note(draw_golden(folder.path, described))
    return described, checkpoint.source()


def add_options(command):
    add_pose_options(command)


def open_random(arguments):
    c = SIZES[arguments.size]
    return RandomCheckpoint(tensor_shapes(c), arguments.seed, random_spread), c


def open_published(path):
    checkpoint = Checkpoint(path)
    c = checkpoint.configuration(Configuration)
    check_configuration(c)
    checkpoint.check(tensor_shapes(c), ignored=lambda name: name == UNUSED)
    return checkpoint, c


def manifest(c, *, half):
    height, width = c.input_shape
    return {
        "interface": "fashn-vton/1",
        "name": "fashn-vton",
        "version": "1.5.0",
        "kind": "photo",
        "license": {"spdx": "Apache-2.0", "commercial": True},
        "accepts": {
            "categories": list(CATEGORIES),
            "garmentTypes": ["flat_lay", "ghost_mannequin", "on_model"],
            "needsPerson": True,
        },
        "aiGenerated": True,
        "size": {"width": width, "height": height},
        "precision": "fp16" if half else "fp32",
        "providers": ["cpu", "cuda"],
        "minMemoryMiB": memory_mib(c, half=half),
        "sampling": {
            "solver": "euler",
            "schedule": {"kind": "rectified-flow", "shift": 1.5},
            "steps": {"fast": 20, "balanced": 30, "quality": 50},
            "guidance": 1.5,
            "unguidedLastSteps": 1,
        },
        "categories": {name: i + 1 for i, name in enumerate(CATEGORIES)} | {"none": 0},
        "configuration": dataclasses.asdict(c),
    }


def memory_mib(c, *, half):
    """Memory that a worker allocates on the device for one guided sample, two rows of `denoise`."""
    size = 2 if half else 4
    weights = sum(math.prod(shape) for shape in tensor_shapes(c).values()) * size
    # Stream before and after, seen, queries, keys, values, attended, and inner values twice.
    values = 2 * 2 * c.tokens * c.hidden_size * (7 + 2 * c.mlp_ratio) * size
    # The runtime takes memory for values in regions, each twice as large as the last.
    regions = 2 * 2 ** math.ceil(math.log2(values))
    return WORKER_MIB + math.ceil((weights + regions) / MIB)
