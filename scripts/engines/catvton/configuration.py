"""Sizes of CatVTON, and the names and shapes of its weights as the diffusers library writes them.

The network is that of Stable Diffusion 1.5 for inpainting without cross-attention, the autoencoder that of Stable
Diffusion 1. Lengths are in pixels or channels; a latent has an eighth of the image's height and width.
"""

import itertools
from dataclasses import dataclass

LATENT_CHANNELS = 4
# Noise, mask, and latents of the masked person above the garment.
INPUT_CHANNELS = 2 * LATENT_CHANNELS + 1


@dataclass(frozen=True)
class Configuration:
    height: int = 1024
    width: int = 768
    channels: tuple = (320, 640, 1280, 1280)
    layers: int = 2
    groups: int = 32
    heads: int = 8
    autoencoder_channels: tuple = (128, 256, 512, 512)
    autoencoder_groups: int = 32

    @property
    def latent(self):
        """Height and width of one image's latent."""
        return self.height // 8, self.width // 8

    @property
    def stacked(self):
        """Height and width of the stacked latents of person and garment."""
        height, width = self.latent
        return 2 * height, width

    @property
    def time_width(self):
        return 4 * self.channels[0]


TINY = Configuration(
    height=96,
    width=64,
    channels=(16, 32, 32, 32),
    layers=1,
    groups=8,
    heads=2,
    autoencoder_channels=(8, 16, 16, 16),
    autoencoder_groups=4,
)
SIZES = {"tiny": TINY, "full": Configuration()}


def down_blocks(c):
    """Channels in and out of each resolution of the network, and whether it attends: all but the lowest."""
    inputs = (c.channels[0], *c.channels)
    return [(inputs[i], size, i < len(c.channels) - 1) for i, size in enumerate(c.channels)]


def up_blocks(c):
    """Per resolution, lowest first: channels below it, its own, and skip channels of each layer."""
    left = [c.channels[0]]
    for i, size in enumerate(c.channels):
        left += [size] * c.layers + ([size] if i < len(c.channels) - 1 else [])
    below, blocks = c.channels[-1], []
    for size in reversed(c.channels):
        blocks.append((below, size, [left.pop() for _ in range(c.layers + 1)]))
        below = size
    return blocks


def attention_keys(c):
    """The self-attentions in the order of CatVTON's published file: down, up, middle."""
    down = [("down_blocks", i, c.layers) for i in range(len(c.channels) - 1)]
    up = [("up_blocks", i, c.layers + 1) for i in range(1, len(c.channels))]
    places = [f"{side}.{i}.attentions.{j}" for side, i, layers in down + up for j in range(layers)]
    return [f"{place}.transformer_blocks.0.attn1" for place in [*places, "mid_block.attentions.0"]]


def network_shapes(c):
    """Name → shape of the denoising network, without cross-attention, in PyTorch order: outputs first."""
    first, last = c.channels[0], c.channels[-1]
    shapes = {
        **convolution("conv_in", INPUT_CHANNELS, first),
        **linear("time_embedding.linear_1", first, c.time_width),
        **linear("time_embedding.linear_2", c.time_width, c.time_width),
        **norm("conv_norm_out", first),
        **convolution("conv_out", first, LATENT_CHANNELS),
        **transformer("mid_block.attentions.0", last),
    }
    for j in range(2):
        shapes |= residual(f"mid_block.resnets.{j}", last, last, c.time_width)
    for i, (inputs, size, attends) in enumerate(down_blocks(c)):
        for j in range(c.layers):
            shapes |= residual(f"down_blocks.{i}.resnets.{j}", size if j else inputs, size, c.time_width)
            shapes |= transformer(f"down_blocks.{i}.attentions.{j}", size) if attends else {}
        shapes |= convolution(f"down_blocks.{i}.downsamplers.0.conv", size, size) if attends else {}
    for i, (below, size, left) in enumerate(up_blocks(c)):
        for j, skipped in enumerate(left):
            shapes |= residual(f"up_blocks.{i}.resnets.{j}", (size if j else below) + skipped, size, c.time_width)
            shapes |= transformer(f"up_blocks.{i}.attentions.{j}", size) if i else {}
        if i < len(c.channels) - 1:
            shapes |= convolution(f"up_blocks.{i}.upsamplers.0.conv", size, size)
    return shapes


def autoencoder_shapes(c):
    first, last = c.autoencoder_channels[0], c.autoencoder_channels[-1]
    return {
        **convolution("encoder.conv_in", 3, first),
        **resolutions("encoder.down_blocks", "downsamplers", (first, *c.autoencoder_channels), c.layers),
        **middle("encoder", last),
        **convolution("encoder.conv_out", last, 2 * LATENT_CHANNELS),
        **convolution("quant_conv", 2 * LATENT_CHANNELS, 2 * LATENT_CHANNELS, 1),
        **convolution("post_quant_conv", LATENT_CHANNELS, LATENT_CHANNELS, 1),
        **convolution("decoder.conv_in", LATENT_CHANNELS, last),
        **middle("decoder", last),
        **resolutions("decoder.up_blocks", "upsamplers", (last, *reversed(c.autoencoder_channels)), c.layers + 1),
        **norm("encoder.conv_norm_out", last),
        **norm("decoder.conv_norm_out", first),
        **convolution("decoder.conv_out", first, 3),
    }


def resolutions(key, resampler, sizes, layers):
    shapes = {}
    for i, (inputs, size) in enumerate(itertools.pairwise(sizes)):
        for j in range(layers):
            shapes |= residual(f"{key}.{i}.resnets.{j}", size if j else inputs, size)
        if i < len(sizes) - 2:
            shapes |= convolution(f"{key}.{i}.{resampler}.0.conv", size, size)
    return shapes


def middle(key, size):
    attention = f"{key}.mid_block.attentions.0"
    layers = [linear(f"{attention}.{name}", size, size) for name in ("to_q", "to_k", "to_v", "to_out.0")]
    shapes = norm(f"{attention}.group_norm", size)
    for part in [*layers, *(residual(f"{key}.mid_block.resnets.{j}", size, size) for j in range(2))]:
        shapes |= part
    return shapes


def residual(key, inputs, size, time_width=None):
    shapes = {
        **norm(f"{key}.norm1", inputs),
        **convolution(f"{key}.conv1", inputs, size),
        **norm(f"{key}.norm2", size),
        **convolution(f"{key}.conv2", size, size),
    }
    shapes |= linear(f"{key}.time_emb_proj", time_width, size) if time_width else {}
    return shapes | (convolution(f"{key}.conv_shortcut", inputs, size, 1) if inputs != size else {})


def transformer(key, size):
    block = f"{key}.transformer_blocks.0"
    shapes = {
        **norm(f"{key}.norm", size),
        **convolution(f"{key}.proj_in", size, size, 1),
        **self_attention(f"{block}.attn1", size),
        **linear(f"{block}.ff.net.0.proj", size, 8 * size),
        **linear(f"{block}.ff.net.2", 4 * size, size),
        **convolution(f"{key}.proj_out", size, size, 1),
    }
    return shapes | {name: shape for i in (1, 2, 3) for name, shape in norm(f"{block}.norm{i}", size).items()}


def self_attention(key, size):
    queries = {f"{key}.{name}.weight": (size, size) for name in ("to_q", "to_k", "to_v")}
    return {**queries, **linear(f"{key}.to_out.0", size, size)}


def norm(key, size):
    return {f"{key}.weight": (size,), f"{key}.bias": (size,)}


def linear(key, inputs, outputs):
    return {f"{key}.weight": (outputs, inputs), f"{key}.bias": (outputs,)}


def convolution(key, inputs, outputs, side=3):
    return {f"{key}.weight": (outputs, inputs, side, side), f"{key}.bias": (outputs,)}


def random_spread(name, shape):
    """Mean and deviation that keep the values of a random network near 1."""
    if name.endswith("bias"):
        return 0.0, 0.1
    if len(shape) == 1:
        return 1.0, 0.2
    inputs = 1
    for size in shape[1:]:
        inputs *= size
    return 0.0, inputs**-0.5
