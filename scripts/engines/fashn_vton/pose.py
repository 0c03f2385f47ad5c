"""The two graphs of DWPose, which find people with hands and face, where somebody has them."""

import pathlib

from ..export import describe_tensors, read_graph
from ..failure import ExportFailure

GRAPHS = {"pose-detector": "yolox_l.onnx, which finds people", "pose-keypoints": "dw-ll_ucoco_384.onnx, which finds points"}
POINTS = 133


def add_options(command):
    for name, meaning in GRAPHS.items():
        command.add_argument(f"--{name}", type=pathlib.Path, help=f"{meaning}; both or none")
    command.add_argument(
        "--pose-license",
        metavar="SPDX",
        help="a licence under which you use both commercially; without it they are marked as not for commercial use",
    )


def take_pose(folder, arguments):
    """Takes the graphs into the folder. Returns what the manifest says of them; nothing where there are none."""
    paths = {name: getattr(arguments, name.replace("-", "_")) for name in GRAPHS}
    if not any(paths.values()):
        return {}
    if not all(paths.values()):
        raise ExportFailure("give both --pose-detector and --pose-keypoints, or neither")
    check_detector(paths["pose-detector"])
    check_keypoints(paths["pose-keypoints"])
    for name, path in paths.items():
        folder.copy(name, path)
    spdx = arguments.pose_license
    license = {"spdx": spdx or "LicenseRef-DWPose", "commercial": spdx is not None}
    return {"auxiliary": [{"name": "dwpose", "license": license}]}


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


def side_lengths(path, tensors):
    shapes = [value["shape"] for value in tensors["inputs"]]
    if len(shapes) != 1 or len(shapes[0]) != 4 or not all(isinstance(side, int) for side in shapes[0][1:]):
        raise ExportFailure(f"{path} takes {shapes}, not one picture of a fixed size")
    return shapes[0][2:]
