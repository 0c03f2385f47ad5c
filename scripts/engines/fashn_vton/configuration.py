"""Sizes of FASHN VTON, and the names and shapes of its published weights."""

from dataclasses import dataclass

from ..failure import ExportFailure

# Number of frequencies of the time embedding, for sine and cosine each.
FREQUENCIES = 128
# Garment categories in the order of their vectors; the first vector means no garment.
CATEGORIES = ("tops", "bottoms", "one-pieces")
# A buffer of the published file that inference does not use.
UNUSED = "patch_mixer_token"


@dataclass(frozen=True)
class Configuration:
    """Lengths are in pixels or channels; the defaults are those of the published weights of version 1.5."""

    input_shape: tuple = (864, 576)
    hidden_size: int = 1280
    n_heads: int = 10
    double_blocks_depth: int = 8
    single_blocks_depth: int = 16
    patch_mixer_depth: int = 4
    axes_dim: tuple = (16, 56, 56)
    patch_size: int = 12
    channels_in: int = 3
    theta: float = 10000.0
    mlp_ratio: int = 4

    @property
    def grid(self):
        """Rows and columns of patches."""
        return tuple(side // self.patch_size for side in self.input_shape)

    @property
    def tokens(self):
        return self.grid[0] * self.grid[1]

    @property
    def head_size(self):
        return self.hidden_size // self.n_heads

    @property
    def patch_values(self):
        return self.channels_in * self.patch_size**2


TINY = Configuration(
    input_shape=(144, 96),
    hidden_size=64,
    n_heads=2,
    double_blocks_depth=1,
    single_blocks_depth=2,
    patch_mixer_depth=1,
    axes_dim=(4, 14, 14),
)
SIZES = {"tiny": TINY, "full": Configuration()}


def check_configuration(c):
    if c.single_blocks_depth < 1:
        raise ExportFailure("single_blocks_depth must be at least 1: the last of these blocks picks the image's tokens")
    if any(side % c.patch_size for side in c.input_shape):
        raise ExportFailure(f"input_shape {c.input_shape} is not a multiple of the patch size {c.patch_size}")
    if sum(c.axes_dim) != c.head_size or any(size % 2 for size in c.axes_dim):
        raise ExportFailure(f"axes_dim {c.axes_dim} must be even and sum to {c.head_size}")


def tensor_shapes(c):
    """Name → shape of every weight, in PyTorch order: outputs first."""
    width, channels = c.hidden_size, c.channels_in
    shapes = {
        **linear("t_embedder.mlp.in_layer", 2 * FREQUENCIES, width),
        **linear("t_embedder.mlp.out_layer", width, width),
        "y_embedder.weight": (1 + len(CATEGORIES), width),
        **embedder("x_embedder", 2 * channels + 1, c),
        **embedder("garment_embedder", channels + 1, c),
        **linear("final_layer.adaLN_modulation.1", width, 2 * width),
        **linear("final_layer.linear", width, c.patch_values),
    }
    for key in single_keys(c):
        shapes |= single_block(key, c)
    for i in range(c.double_blocks_depth):
        shapes |= stream(f"double_blocks.{i}.img", c) | stream(f"double_blocks.{i}.txt", c)
    return shapes


def single_keys(c):
    mixers = [f"x_patch_mixer.{i}" for i in range(c.patch_mixer_depth)]
    return mixers + [f"single_blocks.{i}" for i in range(c.single_blocks_depth)]


def modulations(c):
    """The layers that compute modulation vectors, in the order of the graphs' input, with the number of vectors of each."""
    layers = {f"x_patch_mixer.{i}.modulation.lin": 3 for i in range(c.patch_mixer_depth)}
    for i in range(c.double_blocks_depth):
        layers |= {f"double_blocks.{i}.img_mod.lin": 6, f"double_blocks.{i}.txt_mod.lin": 6}
    layers |= {f"single_blocks.{i}.modulation.lin": 3 for i in range(c.single_blocks_depth)}
    return layers | {"final_layer.adaLN_modulation.1": 2}


def single_block(key, c):
    width, inner = c.hidden_size, c.hidden_size * c.mlp_ratio
    return {
        **linear(f"{key}.modulation.lin", width, 3 * width),
        **linear(f"{key}.linear1", width, 3 * width + inner),
        **linear(f"{key}.linear2", width + inner, width),
        **norms(f"{key}.norm", c),
    }


def stream(key, c):
    width, inner = c.hidden_size, c.hidden_size * c.mlp_ratio
    return {
        **linear(f"{key}_mod.lin", width, 6 * width),
        **linear(f"{key}_attn.qkv", width, 3 * width),
        **linear(f"{key}_attn.proj", width, width),
        **norms(f"{key}_attn.norm", c),
        **linear(f"{key}_mlp.0", width, inner),
        **linear(f"{key}_mlp.2", inner, width),
    }


def norms(key, c):
    return {f"{key}.query_norm.scale": (c.head_size,), f"{key}.key_norm.scale": (c.head_size,)}


def embedder(key, channels, c):
    size, patch = c.hidden_size, c.patch_size
    return {f"{key}.proj.weight": (size, channels, patch, patch), f"{key}.proj.bias": (size,)}


def linear(key, inputs, outputs):
    return {f"{key}.weight": (outputs, inputs), f"{key}.bias": (outputs,)}


def random_spread(name, shape):
    """Mean and deviation that keep the values of a random network near 1."""
    if name.endswith("norm.scale"):
        return 1.0, 0.2
    if name.endswith("bias"):
        return 0.0, 0.1
    inputs = 1
    for size in shape[1:]:
        inputs *= size
    return 0.0, 1.0 if name == "y_embedder.weight" else inputs**-0.5
