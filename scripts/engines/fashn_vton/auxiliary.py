"""Graphs of others, where somebody has them: DWPose finds people with hands and face, a parser tells clothes apart."""

import pathlib

from ..export import describe_tensors, read_graph
from ..failure import ExportFailure

GRAPHS = {"pose-detector": "yolox_l.onnx, which finds people", "pose-keypoints": "dw-ll_ucoco_384.onnx, which finds points"}
POINTS = 133
LABELS = 18


def add_options(command):
    for name, meaning in GRAPHS.items():
        command.add_argument(f"--{name}", type=pathlib.Path, help=f"{meaning}; both or none")
    command.add_argument(
        "--pose-license",
        metavar="SPDX",
        help="a licence under which you use both commercially; without it they are marked as not for commercial use",
    )
    command.add_argument(
        "--parser",
        type=pathlib.Path,
        help="a SegFormer of FASHN's human parser as an ONNX graph: with it photos are masked, and products may be worn",
    )
    command.add_argument("--parser-license", metavar="SPDX", help="the same as --pose-license for the parser")


def take_auxiliary(folder, arguments):
    """Takes the graphs into the folder. Returns what the manifest says of them; nothing where there are none."""
    models = [*take_pose(folder, arguments), *take_parser(folder, arguments)]
    return {"auxiliary": models} if models else {}


def take_pose(folder, arguments):
    paths = {name: getattr(arguments, name.replace("-", "_")) for name in GRAPHS}
    if not any(paths.values()):
        return []
    if not all(paths.values()):
        raise ExportFailure("give both --pose-detector and --pose-keypoints, or neither")
    check_detector(paths["pose-detector"])
    check_keypoints(paths["pose-keypoints"])
    for name, path in paths.items():
        folder.copy(name, path)
    return [describe_auxiliary("dwpose", arguments.pose_license, unknown="LicenseRef-DWPose")]


def take_parser(folder, arguments):
    if not arguments.parser:
        return []
    check_parser(arguments.parser)
    folder.copy("parser", arguments.parser)
    return [describe_auxiliary("human-parser", arguments.parser_license, unknown="LicenseRef-NVIDIA-SegFormer")]


def describe_auxiliary(name, spdx, *, unknown):
    return {"name": name, "license": {"spdx": spdx or unknown, "commercial": spdx is not None}}


def check_detector(path):
    tensors = describe_tensors(read_graph(path))
    height, width = side_lengths(path, tensors)
    cells = sum((height // stride) * (width // stride) for stride in (8, 16, 32))
    outputs = [output["shape"] for output in tensors["outputs"]]
    if len(outputs) != 1 or outputs[0][1:2] != [cells]:
        raise ExportFailure(f"{path} gives out {outputs}; a YOLOX detector of this size gives out {cells} rows")


def check_keypoints(path):
    tensors = describe_tensors(read_graph(path))
    height, width = side_lengths(path, tensors)
    outputs = [output["shape"][1:] for output in tensors["outputs"]]
    if outputs != [[POINTS, 2 * width], [POINTS, 2 * height]]:
        raise ExportFailure(f"{path} gives out {outputs}; DWPose gives out {POINTS} points along either axis")


def check_parser(path):
    tensors = describe_tensors(read_graph(path))
    side_lengths(path, tensors)
    outputs = [output["shape"] for output in tensors["outputs"]]
    if len(outputs) != 1 or outputs[0][1:2] != [LABELS]:
        raise ExportFailure(f"{path} gives out {outputs}; a parser gives out the scores of {LABELS} labels")


def side_lengths(path, tensors):
    shapes = [value["shape"] for value in tensors["inputs"]]
    if len(shapes) != 1 or len(shapes[0]) != 4 or not all(isinstance(side, int) for side in shapes[0][1:]):
        raise ExportFailure(f"{path} takes {shapes}, not one picture of a fixed size")
    return shapes[0][2:]
