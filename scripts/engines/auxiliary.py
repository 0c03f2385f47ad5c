"""Third-party graphs of an engine, each with its own licence."""

from .failure import ExportFailure


def describe_auxiliary(name, spdx, *, unknown):
    """Manifest entry of a model. `spdx` names the licence that permits commercial use, if the operator has one."""
    return {"name": name, "license": {"spdx": spdx or unknown, "commercial": spdx is not None}}


def side_lengths(path, tensors):
    """Height and width of the one image that the graph takes."""
    shapes = [value["shape"] for value in tensors["inputs"]]
    if len(shapes) != 1 or len(shapes[0]) != 4 or not all(isinstance(side, int) for side in shapes[0][1:]):
        raise ExportFailure(f"{path} takes {shapes}, not one image of a fixed size")
    return shapes[0][2:]
