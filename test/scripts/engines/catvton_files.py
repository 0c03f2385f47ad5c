"""Writes the weights of `export-engine catvton --random` as the three files that are published, into a folder.

    catvton_files.py FOLDER

Names are those of the published files: cross-attentions in the network, numbers in the place of names for CatVTON's own
attentions, a layer under any one of the names that PyTorch knows it by, and former names in the autoencoder.
"""

import dataclasses
import json
import pathlib
import sys

import numpy as np
from engines.catvton.checkpoints import FORMER_NAMES
from engines.catvton.configuration import TINY, attention_keys, autoencoder_shapes, network_shapes, random_spread
from engines.checkpoint import RandomCheckpoint
from safetensors.numpy import save_file

# What is numbered, in the order of PyTorch's modules; the last one has no weights.
MODULES = ["", "to_q", "to_k", "to_v", "to_out", "to_out.0", "to_out.1"]


def main():
    folder = pathlib.Path(sys.argv[1])
    network = read_all(network_shapes(TINY))
    own = {name: values for name, values in network.items() if ".attn1." in name}
    # The network comes with attentions of its own, which CatVTON's replace.
    base = network | {name: np.zeros_like(values) for name, values in own.items()}
    crossed = {name.replace(".attn1.", ".attn2."): values for name, values in own.items()}
    sizes = {"config": json.dumps(dataclasses.asdict(TINY))}
    save_file(base | crossed, folder / "unet.safetensors", metadata=sizes)
    save_file({number_of(name): values for name, values in own.items()}, folder / "attention.safetensors")
    autoencoder = read_all(autoencoder_shapes(TINY))
    save_file({former_of(name): values for name, values in autoencoder.items()}, folder / "vae.safetensors")


def read_all(shapes):
    checkpoint = RandomCheckpoint(shapes, 1, random_spread)
    return {name: checkpoint.read(name) for name in shapes}


def number_of(name):
    """One of the names in turn: as a part of the attention, and as a part of each module inside of it."""
    attention, place = next(
        (i, len(key) + 1) for i, key in enumerate(attention_keys(TINY)) if name.startswith(f"{key}.")
    )
    inside = name[place:]
    holders = [i for i, module in enumerate(MODULES) if module == "" or inside.startswith(f"{module}.")]
    holder = holders[attention % len(holders)]
    return f"{attention * len(MODULES) + holder}.{inside.removeprefix(MODULES[holder]).removeprefix('.')}"


def former_of(name):
    for former, present in FORMER_NAMES.items():
        name = name.replace(present, former)
    return name


main()
