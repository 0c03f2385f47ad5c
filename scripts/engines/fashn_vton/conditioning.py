"""Modulation vectors of every block, from time and garment category; the same for all images of a step."""

import functools

import numpy as np
from onnx import TensorProto

from .configuration import FREQUENCIES, modulations


def add_modulation(g, checkpoint, c, time, category):
    """Time 0 to 1 and category, a number each per vector → vectors × (all modulations side by side).

    Scales come out with 1 added, which would otherwise be done for every image and step.
    """
    vec = g.op("Add", embed_time(g, checkpoint, time), embed_category(g, checkpoint, category), name="vec")
    active = silu(g, vec)
    layers = modulations(c)
    parts = [linear(g, checkpoint, active, layer) for layer in layers]
    joined = g.exact(g.op("Concat", *parts, axis=-1))
    return g.op("Add", joined, g.constant(np.repeat(ones_of_scales(layers), c.hidden_size)))


def ones_of_scales(layers):
    """1 for each vector that is a scale: the second of a shift, scale (and gate)."""
    return np.array([part % 3 == 1 for parts in layers.values() for part in range(parts)], np.float32)


def embed_time(g, checkpoint, time):
    # In 32 bits from the start, as in training: for angles up to 1000 the last bit of a frequency matters.
    exponents = np.float32(-np.log(10000.0)) * np.arange(FREQUENCIES, dtype=np.float32) / np.float32(FREQUENCIES)
    frequencies = np.exp(exponents.astype(np.float64)).astype(np.float32)[None]
    thousands = g.op("Mul", g.op("Unsqueeze", time, g.integers(1)), g.constant(np.float32(1000)))
    angles = g.op("Mul", thousands, g.constant(frequencies))
    waves = g.op("Concat", g.op("Cos", angles), g.op("Sin", angles), axis=1, name="timestep_embedding")
    inner = silu(g, linear(g, checkpoint, g.working(waves), "t_embedder.mlp.in_layer"))
    return g.op("Identity", linear(g, checkpoint, inner, "t_embedder.mlp.out_layer"), name="t_embedder")


def embed_category(g, checkpoint, category):
    table = g.weight("y_embedder.weight", lambda: checkpoint.read("y_embedder.weight"))
    return g.op("Gather", table, g.op("Cast", category, to=TensorProto.INT64), axis=0, name="y_embedder")


def silu(g, value):
    return g.op("Mul", value, g.op("Sigmoid", value))


def linear(g, checkpoint, value, key):
    names = (f"{key}.weight", f"{key}.bias")
    weights = [g.weight(name, functools.partial(checkpoint.read, name)) for name in names]
    return g.op("Gemm", value, *weights, transB=1)
