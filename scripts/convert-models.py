#!/usr/bin/env python3
"""Make the ONNX files under worker/models from the published TensorFlow Lite files of MediaPipe.

    npm pack @mediapipe/pose@0.5.1675469404 @mediapipe/face_mesh@0.4.1657299874 @mediapipe/hands@0.4.1675469240
    pip install numpy onnx==1.23.2 tflite==2.18.0
    scripts/convert-models.py . worker/models

Each source file is checked by its SHA-256, so the same files come out every time. Inputs and outputs keep the layout of the
source (batch, height, width, channels) and 32-bit floats; in between, the graph is in ONNX's own layout (batch, channels,
height, width). Weights stay 16-bit as in the source, each behind a Cast that the runtime folds when it opens the file.
Only the operators that occur in these files are known; any other one stops the conversion.
"""

import argparse
import hashlib
import pathlib
import tarfile

import numpy as np
import onnx
import tflite
from onnx import TensorProto, helper, numpy_helper

LANDMARK_NAMES = {
    "input_1": "image",
    "Identity": "landmarks",
    "Identity_1": "pose_flag",
    "Identity_2": "segmentation",
    "Identity_3": "heatmap",
    "Identity_4": "world_landmarks",
}

POSE = "pose", "0.5.1675469404"
FACE_MESH = "face_mesh", "0.4.1657299874"
HANDS = "hands", "0.4.1675469240"

# Name of the ONNX file: (package and version, file in the package and offset in the file, its SHA-256, names of the graph's inputs and
# outputs). "pose_solution_packed_assets.data" is only the detector's TensorFlow Lite file; that of the face mesh contains
# several files.
MODELS = {
    "pose_detection": (
        POSE,
        ("pose_solution_packed_assets.data", slice(None)),
        "a63c614bef30d35947f13be361820b1e4e3bec9cfeebf4d11216a18373108e85",
        {"input_1": "image", "Identity": "boxes", "Identity_1": "scores"},
    ),
    "pose_landmark_heavy": (
        POSE,
        ("pose_landmark_heavy.tflite", slice(None)),
        "59e42d71bcd44cbdbabc419f0ff76686595fd265419566bd4009ef703ea8e1fe",
        LANDMARK_NAMES,
    ),
    "face_landmark": (
        FACE_MESH,
        ("face_mesh_solution_packed_assets.data", slice(2495952, 3737848)),
        "c603fa6149219a3e9487dc9abd7a0c24474c77263273d24868378cdf40aa26d1",
        {"input_1": "image", "conv2d_21": "landmarks", "conv2d_31": "face_flag"},
    ),
    "hand_landmark": (
        HANDS,
        ("hand_landmark_full.tflite", slice(None)),
        "8c026882c9ec059ce0f8e75266bee5a9a23c341a40e0000df755374d3d1b9b68",
        {
            "input_1": "image",
            "Identity": "landmarks",
            "Identity_1": "hand_flag",
            "Identity_2": "handedness",
            "Identity_3": "world_landmarks",
        },
    ),
}

DTYPES = {
    tflite.TensorType.FLOAT32: np.float32,
    tflite.TensorType.FLOAT16: np.float16,
    tflite.TensorType.INT32: np.int32,
}
OPERATOR_NAMES = {code: name for name, code in vars(tflite.BuiltinOperator).items() if isinstance(code, int)}
TO_CHANNELS_FIRST = [0, 3, 1, 2]
TO_CHANNELS_LAST = [0, 2, 3, 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("packages", type=pathlib.Path, help="folder with the packed npm packages (.tgz)")
    parser.add_argument("folder", type=pathlib.Path, help="output folder of the ONNX files")
    arguments = parser.parse_args()
    for name, ((package, version), (file, part), sha256, renamed) in MODELS.items():
        archive = arguments.packages / f"mediapipe-{package}-{version}.tgz"
        source = read_from_package(archive, file, part, sha256)
        origin = f"npm @mediapipe/{package} {version} {file} sha256 {sha256}"
        data = Conversion(source, renamed).to_model(name, origin).SerializeToString(deterministic=True)
        (arguments.folder / f"{name}.onnx").write_bytes(data)
        print(f"{name}.onnx {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


def read_from_package(package, file, part, sha256):
    with tarfile.open(package) as archive:
        data = archive.extractfile(f"package/{file}").read()[part]
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise SystemExit(f"{file}: SHA-256 is {found}, expected {sha256}")
    return data


class Conversion:
    """Conversion of one TensorFlow Lite graph to ONNX: `constants` contains values known before the graph runs."""

    def __init__(self, source, renamed):
        self.source = tflite.Model.GetRootAsModel(source, 0)
        self.graph = self.source.Subgraphs(0)
        self.renamed = renamed
        self.nodes = []
        self.initializers = []
        self.constants = {}
        for index in range(self.graph.TensorsLength()):
            values = self.stored_values(index)
            if values is not None:
                self.constants[index] = values

    def to_model(self, name, origin):
        inputs = [self.add_input(int(index)) for index in self.graph.InputsAsNumpy()]
        for position in range(self.graph.OperatorsLength()):
            self.convert(self.graph.Operators(position))
        outputs = [self.add_output(int(index)) for index in self.graph.OutputsAsNumpy()]
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.initializers)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="drape"
        )
        helper.set_model_props(model, {"source": origin, "license": "Apache-2.0"})
        onnx.checker.check_model(model, full_check=True)
        return model

    def convert(self, operator):
        name = self.operator_name(operator)
        if name not in OPERATORS:
            raise SystemExit(f"operator {name} is not known")
        OPERATORS[name](self, operator, [int(index) for index in operator.InputsAsNumpy()], int(operator.Outputs(0)))

    # Parsing of the source file

    def operator_name(self, operator):
        code = self.source.OperatorCodes(operator.OpcodeIndex())
        return OPERATOR_NAMES[max(code.BuiltinCode(), code.DeprecatedBuiltinCode())]

    def options(self, operator, kind):
        options = kind()
        table = operator.BuiltinOptions()
        options.Init(table.Bytes, table.Pos)
        return options

    def shape(self, index):
        return [int(size) for size in self.graph.Tensors(index).ShapeAsNumpy()]

    def stored_values(self, index):
        tensor = self.graph.Tensors(index)
        buffer = self.source.Buffers(tensor.Buffer())
        if buffer.DataLength() == 0:
            return None
        values = buffer.DataAsNumpy().view(DTYPES[tensor.Type()])
        if tensor.Sparsity() is not None:
            return expand_sparse(self.shape(index), values, tensor.Sparsity())
        return values.reshape(self.shape(index))

    # Construction of the ONNX graph

    def add_node(self, kind, inputs, outputs, **attributes):
        self.nodes.append(helper.make_node(kind, inputs, outputs, name=f"{kind}_{len(self.nodes)}", **attributes))

    def add_constant(self, values):
        """Stores 32-bit floats as 16-bit floats if that is lossless."""
        values = np.ascontiguousarray(values)
        name = f"constant_{len(self.initializers)}"
        if values.dtype == np.float32 and values.size > 1 and np.array_equal(values.astype(np.float16), values):
            self.initializers.append(numpy_helper.from_array(values.astype(np.float16), f"{name}_half"))
            self.add_node("Cast", [f"{name}_half"], [name], to=TensorProto.FLOAT)
        else:
            self.initializers.append(numpy_helper.from_array(values, name))
        return name

    def add_input(self, index):
        name = self.renamed[self.graph.Tensors(index).Name().decode()]
        self.add_node("Transpose", [name], [value_name(index)], perm=TO_CHANNELS_FIRST)
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shape(index))

    def add_output(self, index):
        name = self.renamed[self.graph.Tensors(index).Name().decode()]
        if len(self.shape(index)) == 4:
            self.add_node("Transpose", [value_name(index)], [name], perm=TO_CHANNELS_LAST)
        else:
            self.add_node("Identity", [value_name(index)], [name])
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shape(index))

    def add_activated(self, kind, inputs, output, activation, **attributes):
        """A node followed by the activation that TensorFlow Lite fuses into it."""
        if activation == tflite.ActivationFunctionType.NONE:
            self.add_node(kind, inputs, [value_name(output)], **attributes)
        elif activation == tflite.ActivationFunctionType.RELU6:
            raw = f"{value_name(output)}_raw"
            self.add_node(kind, inputs, [raw], **attributes)
            bounds = [self.add_constant(np.float32(0)), self.add_constant(np.float32(6))]
            self.add_node("Clip", [raw, *bounds], [value_name(output)])
        else:
            raise SystemExit(f"activation {activation} is not known")


def value_name(index):
    return f"value_{index}"


def expand_sparse(shape, values, sparsity):
    """Dense weights from sparse rows (compressed along the last axis)."""
    last = len(shape) - 1
    layout = [sparsity.DimMetadata(axis).Format() for axis in range(len(shape))]
    dense, compressed = tflite.DimensionType.DENSE, tflite.DimensionType.SPARSE_CSR
    if layout != [dense] * last + [compressed] or list(sparsity.TraversalOrderAsNumpy()) != list(range(len(shape))):
        raise SystemExit("this layout of sparse weights is not known")
    rows = sparsity.DimMetadata(last)
    ends = vector_values(rows.ArraySegmentsType(), rows.ArraySegments())
    columns = vector_values(rows.ArrayIndicesType(), rows.ArrayIndices())
    out = np.zeros((int(np.prod(shape[:-1])), shape[-1]), values.dtype)
    out[np.repeat(np.arange(len(ends) - 1), np.diff(ends)), columns] = values
    return out.reshape(shape)


def vector_values(kind, table):
    vectors = {
        tflite.SparseIndexVector.Int32Vector: tflite.Int32Vector,
        tflite.SparseIndexVector.Uint16Vector: tflite.Uint16Vector,
        tflite.SparseIndexVector.Uint8Vector: tflite.Uint8Vector,
    }
    vector = vectors[kind]()
    vector.Init(table.Bytes, table.Pos)
    return vector.ValuesAsNumpy().astype(np.int64)


def known_before(conversion, operator, inputs, output):
    """Weights are unpacked during the conversion."""
    values = conversion.constants[inputs[0]]
    unpacks = conversion.operator_name(operator) == "DEQUANTIZE"
    conversion.constants[output] = values.astype(np.float32) if unpacks else values


def convolution(conversion, operator, inputs, output):
    depthwise = conversion.operator_name(operator) == "DEPTHWISE_CONV_2D"
    options = conversion.options(operator, tflite.DepthwiseConv2DOptions if depthwise else tflite.Conv2DOptions)
    image, weights, bias = inputs
    # Source order: (1, height, width, channels) for depthwise, otherwise (out, height, width, in).
    kernel = conversion.constants[weights].transpose([3, 0, 1, 2] if depthwise else TO_CHANNELS_FIRST)
    size, stride = kernel.shape[2:], [options.StrideH(), options.StrideW()]
    if options.DilationHFactor() != 1 or options.DilationWFactor() != 1:
        raise SystemExit("dilated convolutions are not known")
    conversion.add_activated(
        "Conv",
        [value_name(image), conversion.add_constant(kernel), conversion.add_constant(conversion.constants[bias])],
        output,
        options.FusedActivationFunction(),
        kernel_shape=size,
        strides=stride,
        group=conversion.shape(image)[3] if depthwise else 1,
        pads=paddings(options.Padding(), conversion.shape(image)[1:3], size, stride),
    )


def max_pool(conversion, operator, inputs, output):
    options = conversion.options(operator, tflite.Pool2DOptions)
    size, stride = [options.FilterHeight(), options.FilterWidth()], [options.StrideH(), options.StrideW()]
    pads = paddings(options.Padding(), conversion.shape(inputs[0])[1:3], size, stride)
    conversion.add_activated(
        "MaxPool",
        [value_name(inputs[0])],
        output,
        options.FusedActivationFunction(),
        kernel_shape=size,
        strides=stride,
        pads=pads,
    )


def paddings(kind, image_size, window, stride):
    """ONNX's (top, left, bottom, right) of TensorFlow's SAME, which puts the odd pixel at the end."""
    if kind == tflite.Padding.VALID:
        return [0, 0, 0, 0]
    total = [max((-(-n // s) - 1) * s + w - n, 0) for n, w, s in zip(image_size, window, stride)]
    return [t // 2 for t in total] + [t - t // 2 for t in total]


def addition(conversion, operator, inputs, output):
    activation = conversion.options(operator, tflite.AddOptions).FusedActivationFunction()
    conversion.add_activated("Add", [value_name(index) for index in inputs], output, activation)


def sigmoid(conversion, operator, inputs, output):
    conversion.add_node("Sigmoid", [value_name(inputs[0])], [value_name(output)])


def prelu(conversion, operator, inputs, output):
    """One slope per channel, for all rows and columns."""
    slope = conversion.constants[inputs[1]].reshape(-1, 1, 1)
    conversion.add_node("PRelu", [value_name(inputs[0]), conversion.add_constant(slope)], [value_name(output)])


def pad(conversion, operator, inputs, output):
    amounts = conversion.constants[inputs[1]].reshape(4, 2)[TO_CHANNELS_FIRST]
    pads = conversion.add_constant(amounts.T.reshape(-1).astype(np.int64))
    conversion.add_node("Pad", [value_name(inputs[0]), pads], [value_name(output)])


def resize_bilinear(conversion, operator, inputs, output):
    options = conversion.options(operator, tflite.ResizeBilinearOptions)
    if options.AlignCorners():
        raise SystemExit("resizing with aligned corners is not known")
    before, after = conversion.shape(inputs[0]), conversion.shape(output)
    scales = np.array([1, 1, after[1] / before[1], after[2] / before[2]], np.float32)
    conversion.add_node(
        "Resize",
        [value_name(inputs[0]), "", conversion.add_constant(scales)],
        [value_name(output)],
        mode="linear",
        coordinate_transformation_mode="half_pixel" if options.HalfPixelCenters() else "asymmetric",
    )


def depth_to_space(conversion, operator, inputs, output):
    block = conversion.options(operator, tflite.DepthToSpaceOptions).BlockSize()
    conversion.add_node("DepthToSpace", [value_name(inputs[0])], [value_name(output)], blocksize=block, mode="DCR")


def reshape(conversion, operator, inputs, output):
    if len(conversion.shape(output)) == 4:
        raise SystemExit("reshaping into an image is not known")
    channels_last = f"{value_name(output)}_channels_last"
    conversion.add_node("Transpose", [value_name(inputs[0])], [channels_last], perm=TO_CHANNELS_LAST)
    shape = conversion.add_constant(np.array(conversion.shape(output), np.int64))
    conversion.add_node("Reshape", [channels_last, shape], [value_name(output)])


def concatenation(conversion, operator, inputs, output):
    if len(conversion.shape(output)) == 4:
        raise SystemExit("joining images is not known")
    axis = conversion.options(operator, tflite.ConcatenationOptions).Axis()
    conversion.add_node("Concat", [value_name(index) for index in inputs], [value_name(output)], axis=axis)


def mean(conversion, operator, inputs, output):
    """Reduces all rows and columns, and drops both axes."""
    keeps = conversion.options(operator, tflite.ReducerOptions).KeepDims()
    if keeps or sorted(conversion.constants[inputs[1]].tolist()) != [1, 2]:
        raise SystemExit("means of anything but whole images are not known")
    image = f"{value_name(output)}_image"
    conversion.add_node("GlobalAveragePool", [value_name(inputs[0])], [image])
    conversion.add_node("Flatten", [image], [value_name(output)], axis=1)


def fully_connected(conversion, operator, inputs, output):
    values, weights, bias = inputs
    activation = conversion.options(operator, tflite.FullyConnectedOptions).FusedActivationFunction()
    constants = [conversion.add_constant(conversion.constants[index]) for index in (weights, bias)]
    conversion.add_activated("Gemm", [value_name(values), *constants], output, activation, transB=1)


OPERATORS = {
    "ADD": addition,
    "CONCATENATION": concatenation,
    "CONV_2D": convolution,
    "DENSIFY": known_before,
    "DEPTH_TO_SPACE": depth_to_space,
    "DEPTHWISE_CONV_2D": convolution,
    "DEQUANTIZE": known_before,
    "FULLY_CONNECTED": fully_connected,
    "LOGISTIC": sigmoid,
    "MAX_POOL_2D": max_pool,
    "MEAN": mean,
    "PAD": pad,
    "PRELU": prelu,
    "RESHAPE": reshape,
    "RESIZE_BILINEAR": resize_bilinear,
}

if __name__ == "__main__":
    main()
