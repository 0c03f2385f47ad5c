"""The three graphs of the engine. All inputs and outputs are 32-bit floats.

encoder    picture               → mean, log_variance    of the image's latent, not yet scaled
denoiser   sample, time          → noise                 that the network sees in the sample
decoder    latent                → picture               of −1 to 1; the latent is no longer scaled
"""

import numpy as np

from ..graph import CONTRIB, Graph
from .configuration import INPUT_CHANNELS, LATENT_CHANNELS, down_blocks, up_blocks
from .layers import Layers

# Range of the log variance of a latent, as in the autoencoder's training.
LOG_VARIANCE = (-30.0, 20.0)


def build_encoder(checkpoint, c, **options):
    g = Graph("encoder", **options)
    layers = autoencoder_layers(g, checkpoint, c)
    value = layers.convolve(g.working(g.input("picture", ["pictures", 3, c.height, c.width])), "encoder.conv_in")
    for i in range(len(c.autoencoder_channels)):
        key = f"encoder.down_blocks.{i}"
        for j in range(c.layers):
            value = layers.residual(value, f"{key}.resnets.{j}")
        if i < len(c.autoencoder_channels) - 1:
            # Pads the right and the bottom only.
            value = layers.convolve(value, f"{key}.downsamplers.0.conv", stride=2, pads=[0, 0, 1, 1])
    value = add_middle(layers, value, "encoder")
    value = layers.convolve(layers.silu(layers.group_norm(value, "encoder.conv_norm_out")), "encoder.conv_out")
    moments = g.exact(layers.convolve(value, "quant_conv", side=1))
    halves = g.op("Split", moments, g.integers(LATENT_CHANNELS, LATENT_CHANNELS), outputs=2, axis=1)
    limits = [g.constant(np.float32(limit)) for limit in LOG_VARIANCE]
    shape = ["pictures", LATENT_CHANNELS, *c.latent]
    g.output("mean", halves[0], shape)
    g.output("log_variance", g.op("Clip", halves[1], *limits), shape)
    return g.model()


def build_decoder(checkpoint, c, **options):
    g = Graph("decoder", **options)
    layers = autoencoder_layers(g, checkpoint, c)
    value = g.working(g.input("latent", ["pictures", LATENT_CHANNELS, *c.latent]))
    value = layers.convolve(layers.convolve(value, "post_quant_conv", side=1), "decoder.conv_in")
    value = add_middle(layers, value, "decoder")
    for i in range(len(c.autoencoder_channels)):
        key = f"decoder.up_blocks.{i}"
        for j in range(c.layers + 1):
            value = layers.residual(value, f"{key}.resnets.{j}")
        if i < len(c.autoencoder_channels) - 1:
            value = layers.enlarge(value, key)
    value = layers.convolve(layers.silu(layers.group_norm(value, "decoder.conv_norm_out")), "decoder.conv_out")
    g.output("picture", g.exact(value), ["pictures", 3, c.height, c.width])
    return g.model()


def build_denoiser(checkpoint, c, **options):
    g = Graph("denoiser", **options)
    layers = Layers(g, checkpoint, groups=c.groups, epsilon=1e-5)
    sample = g.input("sample", ["rows", INPUT_CHANNELS, *c.stacked])
    time = embed_time(g, layers, g.input("time", ["rows"]), c)
    value = layers.convolve(g.working(sample), "conv_in")
    value, left = add_way_down(layers, value, time, c)
    value = layers.residual(value, "mid_block.resnets.0", time)
    value = add_transformer(layers, value, "mid_block.attentions.0", c)
    value = layers.residual(value, "mid_block.resnets.1", time)
    value = add_way_up(layers, value, left, time, c)
    value = layers.convolve(layers.silu(layers.group_norm(value, "conv_norm_out")), "conv_out")
    g.output("noise", g.exact(value), ["rows", LATENT_CHANNELS, *c.stacked])
    return g.model()


def autoencoder_layers(g, checkpoint, c):
    return Layers(g, checkpoint, groups=c.autoencoder_groups, epsilon=1e-6)


def add_middle(layers, value, key):
    value = layers.residual(value, f"{key}.mid_block.resnets.0")
    attention = f"{key}.mid_block.attentions.0"
    tokens = layers.to_tokens(layers.group_norm(value, f"{attention}.group_norm"))
    attended = layers.to_image(layers.attend(tokens, attention, heads=1, bias=True), value)
    value = layers.g.op("Add", value, attended, name=attention)
    return layers.residual(value, f"{key}.mid_block.resnets.1")


def embed_time(g, layers, time, c):
    # In 32 bits from the start, as in training: for angles up to 1000 the last bit of a frequency matters.
    half = c.channels[0] // 2
    exponents = np.float32(-np.log(10000.0)) * np.arange(half, dtype=np.float32) / np.float32(half)
    frequencies = np.exp(exponents.astype(np.float64)).astype(np.float32)[None]
    angles = g.op("Mul", g.op("Unsqueeze", time, g.integers(1)), g.constant(frequencies))
    waves = g.op("Concat", g.op("Cos", angles), g.op("Sin", angles), axis=1)
    inner = layers.silu(layers.linear(g.working(waves), "time_embedding.linear_1"))
    return layers.linear(inner, "time_embedding.linear_2")


def add_way_down(layers, value, time, c):
    """The value at the lowest resolution, and the skip connections of all layers."""
    left = [value]
    for i, (_, _, attends) in enumerate(down_blocks(c)):
        key = f"down_blocks.{i}"
        for j in range(c.layers):
            value = layers.residual(value, f"{key}.resnets.{j}", time)
            if attends:
                value = add_transformer(layers, value, f"{key}.attentions.{j}", c)
            left.append(value)
        if attends:
            value = layers.convolve(value, f"{key}.downsamplers.0.conv", stride=2)
            left.append(value)
    return value, left


def add_way_up(layers, value, left, time, c):
    left = list(left)
    for i, (_, _, skipped) in enumerate(up_blocks(c)):
        key = f"up_blocks.{i}"
        for j in range(len(skipped)):
            value = layers.g.op("Concat", value, left.pop(), axis=1)
            value = layers.residual(value, f"{key}.resnets.{j}", time)
            if i > 0:
                value = add_transformer(layers, value, f"{key}.attentions.{j}", c)
        if i < len(c.channels) - 1:
            value = layers.enlarge(value, key)
    return value


def add_transformer(layers, value, key, c):
    g, block = layers.g, f"{key}.transformer_blocks.0"
    projected = layers.convolve(layers.group_norm(value, f"{key}.norm", epsilon=1e-6), f"{key}.proj_in", side=1)
    tokens = layers.to_tokens(projected)
    seen = add_layer_norm(layers, tokens, f"{block}.norm1")
    tokens = g.op("Add", tokens, layers.attend(seen, f"{block}.attn1", heads=c.heads, bias=False))
    # CatVTON has no cross-attention: its normalised input is added instead.
    tokens = g.op("Add", tokens, add_layer_norm(layers, tokens, f"{block}.norm2"))
    both = layers.linear(add_layer_norm(layers, tokens, f"{block}.norm3"), f"{block}.ff.net.0.proj")
    inner, gate = g.op("Split", both, g.integers(*halves_of(layers, block)), outputs=2, axis=-1)
    gated = g.op("Mul", inner, g.op("Gelu", gate, domain=CONTRIB))
    tokens = g.op("Add", tokens, layers.linear(gated, f"{block}.ff.net.2"))
    out = layers.convolve(layers.to_image(tokens, value), f"{key}.proj_out", side=1)
    return g.op("Add", value, out, name=key)


def halves_of(layers, block):
    size = layers.checkpoint.shapes[f"{block}.ff.net.0.proj.bias"][0] // 2
    return size, size


def add_layer_norm(layers, value, key):
    weights = (layers.weight(f"{key}.weight"), layers.weight(f"{key}.bias"))
    return layers.g.op("LayerNormalization", value, *weights, axis=-1, epsilon=1e-5)
