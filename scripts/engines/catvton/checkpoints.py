"""Combines the three weight files of CatVTON."""

from ..checkpoint import Checkpoint
from .configuration import attention_keys, autoencoder_shapes, network_shapes

# Former names of the autoencoder's attention layers in diffusers, which published files still use.
FORMER_NAMES = {".query.": ".to_q.", ".key.": ".to_k.", ".value.": ".to_v.", ".proj_attn.": ".to_out.0."}
# Each self-attention counts as several modules: itself, queries, keys, values, and the output with its two parts.
MODULES_OF_ATTENTION = 7


class CombinedCheckpoint:
    def __init__(self, parts):
        """If several parts contain a name, the first part takes precedence."""
        self.parts = parts
        self.shapes = {name: shape for part in reversed(parts) for name, shape in part.shapes.items()}

    def read(self, name):
        return next(part for part in self.parts if name in part.shapes).read(name)

    def source(self):
        return ", ".join(part.source() for part in self.parts)


def open_files(c, network, *, attention, autoencoder):
    """The base network, CatVTON's own self-attentions and the autoencoder, each verified, as one checkpoint."""
    shapes = network_shapes(c)
    others = {name: shape for name, shape in shapes.items() if ".attn1." not in name}
    network.check(others, ignored=lambda name: ".attn1." in name or ".attn2." in name)
    own = Checkpoint(attention, attention_names(c))
    own.check({name: shape for name, shape in shapes.items() if ".attn1." in name})
    autoencoding = Checkpoint(autoencoder, autoencoder_names(c))
    autoencoding.check(autoencoder_shapes(c))
    return CombinedCheckpoint([own, network, autoencoding])


def attention_names(c):
    """Names in the published file → names in the network.

    PyTorch knows a layer by a name for each module that it is in, and writes it under one of them.
    """
    names = {}
    for i, key in enumerate(attention_keys(c)):
        attention, q, k, v, outputs, output, _ = range(i * MODULES_OF_ATTENTION, (i + 1) * MODULES_OF_ATTENTION)
        for number, layer in ((q, "to_q"), (k, "to_k"), (v, "to_v")):
            names |= {
                f"{number}.weight": f"{key}.{layer}.weight",
                f"{attention}.{layer}.weight": f"{key}.{layer}.weight",
            }
        for known_as in (f"{attention}.to_out.0", f"{outputs}.0", f"{output}"):
            names |= {f"{known_as}.{kind}": f"{key}.to_out.0.{kind}" for kind in ("weight", "bias")}
    return names


def autoencoder_names(c):
    """Former names → present names."""
    return {
        name.replace(present, former): name
        for name in autoencoder_shapes(c)
        for former, present in FORMER_NAMES.items()
        if present in name
    }
