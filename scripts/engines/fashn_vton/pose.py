"""Optional DWPose: two graphs that detect people with hands and face."""

import pathlib

from ..auxiliary import describe_auxiliary, side_lengths
from ..export import describe_tensors, read_graph
from ..failure import ExportFailure

GRAPHS = {"pose-detector": "yolox_l.onnx, which finds people", "pose-keypoints": "dw-ll_ucoco_384.onnx, which finds points"}
POINTS = 133


def add_pose_options(command):
    for name, meaning in GRAPHS.items():
        command.add_argument(f"--{name}", type=pathlib.Path, help=f"{meaning}; both or none")
    command.add_argument(
        "--pose-license",
        metavar="SPDX",
        help="a licence under which you use both commercially; without it they are marked as not for commercial use",
    )


def take_pose(folder, arguments):
    """Copies the graphs into the folder. Returns their entries of the manifest; none if the operator has none."""
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


def check_detector(path):
    tensors = describe_tensors(read_graph(path))
    height, width = side_lengths(path, tensors)
    cells = sum((height // stride) * (width // stride) for stride in (8, 16, 32))
    outputs = [output["shape"] for output in tensors["outputs"]]
    if len(outputs) != 1 or outputs[0][1:2] != [cells]:
        raise ExportFailure(f"{path} returns {outputs}; a YOLOX detector of this size returns {cells} rows")


def check_keypoints(path):
    tensors = describe_tensors(read_graph(path))
    height, width = side_lengths(path, tensors)
    outputs = [output["shape"][1:] for output in tensors["outputs"]]
    if outputs != [[POINTS, 2 * width], [POINTS, 2 * height]]:
        raise ExportFailure(f"{path} returns {outputs}; DWPose returns {POINTS} points along each axis")
