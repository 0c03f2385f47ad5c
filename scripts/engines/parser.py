"""Optional segmentation parser of clothed people: with it an engine accepts product photos of worn garments."""

import pathlib

from .auxiliary import describe_auxiliary, side_lengths
from .export import describe_tensors, read_graph
from .failure import ExportFailure

LABELS = 18


def add_parser_options(command):
    command.add_argument(
        "--parser",
        type=pathlib.Path,
        help="a SegFormer of FASHN's human parser as an ONNX graph: with it the engine accepts garments worn by a model",
    )
    command.add_argument(
        "--parser-license",
        metavar="SPDX",
        help="a licence under which you use it commercially; without it the parser is marked as not for commercial use",
    )


def take_parser(folder, arguments):
    """Copies the graph into the folder. Returns its entries of the manifest; none if the operator has none."""
    if not arguments.parser:
        return []
    check_parser(arguments.parser)
    folder.copy("parser", arguments.parser)
    return [describe_auxiliary("human-parser", arguments.parser_license, unknown="LicenseRef-NVIDIA-SegFormer")]


def garment_types(arguments):
    """Accepted garment types: a worn garment requires the parser."""
    return ["flat_lay", "ghost_mannequin", *(["on_model"] if arguments.parser else [])]


def check_parser(path):
    tensors = describe_tensors(read_graph(path))
    side_lengths(path, tensors)
    outputs = [output["shape"] for output in tensors["outputs"]]
    if len(outputs) != 1 or outputs[0][1:2] != [LABELS]:
        raise ExportFailure(f"{path} returns {outputs}; a parser returns the scores of {LABELS} labels")
