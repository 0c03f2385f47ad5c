"""The five graphs of the engine. All inputs and outputs are 32-bit floats; whole numbers are floats without a fraction.

person         person, person_pose      → person_tokens       once for each photo
garment        garment, garment_pose    → garment_tokens      once for each product image
modulation     time, category           → modulation          once for each (time, category)
velocity       sample, …tokens, modulation → velocity         the network alone, one time for all rows
denoise        sample, …tokens, modulation, … → denoised      any number of steps in one call
"""

from onnx import TensorProto

from ..graph import Graph
from .conditioning import add_modulation
from .configuration import modulations
from .network import Network


def build_person(checkpoint, c, **options):
    return build_tokens("person", "x_embedder", slice(c.channels_in, None), checkpoint, c, options)


def build_garment(checkpoint, c, **options):
    return build_tokens("garment", "garment_embedder", slice(0, None), checkpoint, c, options)


def build_tokens(name, key, part, checkpoint, c, options):
    """Image and skeleton → tokens. The layer is linear, so the contribution of the sample is added later."""
    g = Graph(name, **options)
    image = g.input(name, ["pictures", c.channels_in, *c.input_shape])
    pose = g.input(f"{name}_pose", ["pictures", 1, *c.input_shape])
    tokens = Network(g, checkpoint, c).embed(g.op("Concat", image, pose, axis=1), key, part, bias=True)
    g.output(f"{name}_tokens", g.exact(tokens), ["pictures", c.tokens, c.hidden_size])
    return g.model()


def build_modulation(checkpoint, c, **options):
    g = Graph("modulation", **options)
    modulation = add_modulation(g, checkpoint, c, g.input("time", ["vectors"]), g.input("category", ["vectors"]))
    g.output("modulation", modulation, ["vectors", modulation_size(c)])
    return g.model()


def build_velocity(checkpoint, c, **options):
    """Every row has its own sample, person, garment and modulation."""
    g = Graph("velocity", **options)
    sample = g.input("sample", ["rows", c.channels_in, *c.input_shape])
    person, garment = (g.input(f"{name}_tokens", ["rows", c.tokens, c.hidden_size]) for name in ("person", "garment"))
    modulation = g.input("modulation", ["rows", modulation_size(c)])
    row = (sample, g.working(person), g.working(garment), modulation)
    velocity = add_velocity(g, Network(g, checkpoint, c), row)
    g.output("velocity", velocity, ["rows", c.channels_in, *c.input_shape])
    return g.model()


def build_denoise(checkpoint, c, **options):
    """Any number of steps, without work for the host in between.

    A condition is what a row is asked for: tokens of a person and a garment, and modulations for each step. Row r works
    on sample r modulo the number of samples, under condition `row_condition[r]`. In step i each sample becomes itself
    plus the sum over its rows of `step_weights[i, r]` times the row's velocity: guidance and solver are the caller's.
    """
    g = Graph("denoise", **options)
    sample = g.input("sample", ["samples", c.channels_in, *c.input_shape])
    tokens = [g.input(f"{name}_tokens", ["conditions", c.tokens, c.hidden_size]) for name in ("person", "garment")]
    modulation = g.input("modulation", ["steps", "conditions", modulation_size(c)])
    condition = g.op("Cast", g.input("row_condition", ["rows"]), to=TensorProto.INT64)
    weights = g.input("step_weights", ["steps", "rows"])
    person, garment = (g.op("Gather", g.working(value), condition, axis=0) for value in tokens)
    own_sample = add_sample_of_row(g, sample, condition)

    def step(inner, state, modulation_now, weights_now):
        rows = inner.op("Gather", state, own_sample, axis=0)
        vectors = inner.op("Gather", modulation_now, condition, axis=0)
        velocity = add_velocity(inner, Network(inner, checkpoint, c), (rows, person, garment, vectors))
        return add_step(inner, state, velocity, weights_now)

    denoised = g.scan(sample, [modulation, weights], step)
    g.output("denoised", denoised, ["samples", c.channels_in, *c.input_shape])
    return g.model()


def add_velocity(g, network, row):
    sample, person, garment, modulation = row
    patches = network.embed(sample, "x_embedder", slice(0, network.c.channels_in), bias=False)
    return network.velocity(g.op("Add", patches, person, name="x_embedder"), garment, modulation)


def add_sample_of_row(g, sample, condition):
    """Row → index of its sample."""
    samples, rows = (g.op("Squeeze", g.op("Shape", value, start=0, end=1)) for value in (sample, condition))
    zero, one = (g.op("Squeeze", g.integers(value)) for value in (0, 1))
    return g.op("Mod", g.op("Range", zero, rows, one), samples)


def add_step(g, sample, velocity, weights):
    weighted = g.op("Mul", velocity, g.op("Unsqueeze", weights, g.integers(1, 2, 3)))
    by_sample = g.op("Concat", g.integers(-1), g.op("Shape", sample), axis=0)
    return g.op("Add", sample, g.op("ReduceSum", g.op("Reshape", weighted, by_sample), g.integers(0), keepdims=0))


def modulation_size(c):
    return sum(modulations(c).values()) * c.hidden_size
