"""Graphs by other authors that an engine works with, each under a licence of its own."""

from .failure import ExportFailure


def describe_auxiliary(name, spdx, *, unknown):
    """The manifest's entry of a model. `spdx` names the licence that permits commercial use, if the operator has one."""
    return {"name": name, "license": {"spdx": spdx or unknown, "commercial": spdx is not None}}


def side_lengths(path, tensors):
    """Height and width of the one image that the graph takes."""
    shapes = [value["shape"] for value in tensors["inputs"]]
    if len(shapes) != 1 or len(shapes[0]) != 4 or not all(isinstance(side, int) for side in shapes[0][1:]):
        raise ExportFailure(f"{path} takes {shapes}, not one picture of a fixed size")
    return shapes[0][2:]
