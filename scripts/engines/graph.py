"""Builds an ONNX graph node by node."""

import itertools

import numpy as np
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 9
# Operators of ONNX Runtime itself. All used operators have kernels for CPU and CUDA.
CONTRIB = "com.microsoft"


class Graph:
    """A graph under construction. Values are known by their names.

    Inputs and outputs are 32-bit floats. Weights are kept in the precision of the graph, and `working` and `exact` turn
    a value into that precision and back to 32 bits: nothing happens where they are the same.
    """

    def __init__(self, name, *, half, storage, outer=None):
        self.name, self.half, self.storage = name, half, storage
        self.dtype = np.float16 if half else np.float32
        self.inputs, self.outputs, self.nodes = [], [], []
        # The body of a loop sees the values of the outer graph and stores its weights there.
        self.initializers = outer.initializers if outer else {}
        self.constants = outer.constants if outer else {}
        self.numbers = outer.numbers if outer else itertools.count(1)

    def input(self, name, shape):
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def output(self, name, value, shape):
        self.op("Identity", value, name=name)
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def op(self, kind, *inputs, name=None, outputs=1, domain="", **attributes):
        """Adds a node; returns the name of its output, which can be given, or a list of names."""
        number = next(self.numbers)
        names = [name or f"{kind}_{number}" if outputs == 1 else f"{kind}_{number}_{i}" for i in range(outputs)]
        node = helper.make_node(kind, list(inputs), names, name=f"{kind}_{number}", domain=domain, **attributes)
        self.nodes.append(node)
        return names[0] if outputs == 1 else names

    def weight(self, name, load):
        """The weight that `load` returns, in the precision of the graph."""
        if name not in self.initializers:
            self.initializers[name] = self.storage.place(name, self.dtype, load)
        return name

    def constant(self, values, place="host"):
        """A number or array that is not a weight, with its own type.

        Whole numbers are read on the host, most often. One that an operator reads on the device is another constant: if both
        shared it, it would be copied in every step.
        """
        values = np.asarray(values)
        key = (place, values.dtype.str, values.shape, values.tobytes())
        if key not in self.constants:
            name = f"constant_{next(self.numbers)}"
            self.constants[key] = name
            self.initializers[name] = numpy_helper.from_array(values, name)
        return self.constants[key]

    def integers(self, *values):
        return self.constant(np.array(values, np.int64))

    def working(self, value):
        return self.op("Cast", value, to=TensorProto.FLOAT16) if self.half else value

    def exact(self, value):
        return self.op("Cast", value, to=TensorProto.FLOAT) if self.half else value

    def scan(self, state, inputs, step):
        """Folds `state` with `step(graph, state, *parts)` over the parts of `inputs` along their first axis.

        All of them are 32-bit floats, and none leaves the device in between.
        """
        inner = Graph(f"{self.name}_step", half=self.half, storage=self.storage, outer=self)
        names = [f"{name}_of_step" for name in (state, *inputs)]
        inner.inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names]
        after = step(inner, *names)
        inner.outputs = [helper.make_tensor_value_info(after, TensorProto.FLOAT, None)]
        body = helper.make_graph(inner.nodes, inner.name, inner.inputs, inner.outputs)
        return self.op("Scan", state, *inputs, body=body, num_scan_inputs=len(inputs))

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, list(self.initializers.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="drape")
