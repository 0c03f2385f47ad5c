"""Exports CatVTON: its graphs, and the manifest for workers."""

import dataclasses
import functools
import math

from ..checkpoint import Checkpoint, RandomCheckpoint
from ..golden import note
from ..parser import add_parser_options, garment_types, take_parser
from . import graphs
from .checkpoints import open_files
from .configuration import SIZES, Configuration, autoencoder_shapes, network_shapes, random_spread
from .golden import draw_golden

HELP = "CatVTON, CC-BY-NC-SA-4.0: no commercial use"
# Options of the weight files, with their help.
SOURCES = {
    "unet": "the network of Stable Diffusion 1.5 for inpainting, as diffusers writes it",
    "attention": "CatVTON's own self-attentions, attention/model.safetensors",
    "vae": "the autoencoder sd-vae-ft-mse, as diffusers writes it",
}
MIB = 1024 * 1024
# Memory of a runtime besides weights and values: libraries, kernels, fragmentation.
RUNTIME_MIB = 768


def write(folder, arguments):
    """Writes all graphs. Returns the engine's manifest and the source of the weights."""
    checkpoint, c = open_random(arguments) if arguments.random else open_published(arguments)
    for name in ("encoder", "denoiser", "decoder"):
        build = functools.partial(getattr(graphs, f"build_{name}"), checkpoint, c)
        folder.write_large({name: build}, weights_file=f"{name}.weights")
    described = manifest(c, half=folder.half, garment_types=garment_types(arguments))
    if auxiliary := take_parser(folder, arguments):
        described["auxiliary"] = auxiliary
    if arguments.golden:
        described["golden"] = note(draw_golden(folder.path, described))
    return described, checkpoint.source()


def add_options(command):
    add_parser_options(command)


def open_random(arguments):
    c = SIZES[arguments.size]
    return RandomCheckpoint(network_shapes(c) | autoencoder_shapes(c), arguments.seed, random_spread), c


def open_published(arguments):
    network = Checkpoint(arguments.unet)
    c = network.configuration(Configuration)
    return open_files(c, network, attention=arguments.attention, autoencoder=arguments.vae), c


def manifest(c, *, half, garment_types):
    return {
        "interface": "catvton/1",
        "name": "catvton",
        "version": "1.0.0",
        "kind": "photo",
        "license": {"spdx": "CC-BY-NC-SA-4.0", "commercial": False},
        "accepts": {
            "categories": ["tops", "bottoms", "one-pieces", "outerwear"],
            "garmentTypes": garment_types,
            "needsPerson": True,
        },
        "aiGenerated": True,
        "size": {"width": c.width, "height": c.height},
        "precision": "fp16" if half else "fp32",
        "providers": ["cpu", "cuda"],
        "minMemoryMiB": memory_mib(c, half=half),
        "sampling": {
            "solver": "ddim",
            "eta": 1.0,
            "schedule": {
                "kind": "scaled-linear",
                "trainingSteps": 1000,
                "betaStart": 0.00085,
                "betaEnd": 0.012,
                "spacing": "leading",
                "offset": 1,
                "prediction": "epsilon",
                "clipSample": False,
                "finalAlphaIsOne": False,
            },
            "steps": {"fast": 20, "balanced": 30, "quality": 50},
            "guidance": 2.5,
        },
        "latentScale": 0.18215,
        "configuration": dataclasses.asdict(c),
    }


def memory_mib(c, *, half):
    """Weights of all graphs, and the values of the decoder's widest layer: input, intermediate and output."""
    size = 2 if half else 4
    weights = sum(math.prod(shape) for shape in (network_shapes(c) | autoencoder_shapes(c)).values()) * size
    values = 4 * 2 * c.autoencoder_channels[0] * c.height * c.width * size
    return RUNTIME_MIB + math.ceil((weights + values) / MIB)
