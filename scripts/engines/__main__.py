"""Exports the model files of an engine from published weights, or from random numbers."""

import argparse
import pathlib
import posixpath
import sys

from .download import download
from .export import EngineFolder
from .failure import ExportFailure
from .fashn_vton import engine as fashn_vton
from .folder import new_folder

ENGINES = {"fashn-vton": fashn_vton}


def main():
    arguments = read_arguments()
    try:
        with new_folder(arguments.output) as path:
            if arguments.download:
                arguments.weights = arguments.output.with_name(posixpath.basename(arguments.engine.PUBLISHED.url))
                download(arguments.engine.PUBLISHED, arguments.weights, url=arguments.download)
            folder = EngineFolder(path, half=arguments.precision == "fp16")
            manifest, source = arguments.engine.write(folder, arguments)
            folder.finish(manifest, source=source)
    except ExportFailure as failure:
        sys.exit(f"export-engine: {failure}")
    for file in sorted(arguments.output.iterdir()):
        print(f"{file.stat().st_size:>13,}  {file}")


def read_arguments():
    parser = argparse.ArgumentParser(prog="export-engine", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="ENGINE")
    for name, engine in ENGINES.items():
        command = commands.add_parser(name, help=engine.HELP)
        command.set_defaults(engine=engine)
        add_source(command, engine.PUBLISHED)
        engine.add_options(command)
        add_common(command)
    arguments = parser.parse_args()
    arguments.output = arguments.output.absolute()
    return arguments


def add_source(command, published):
    source = command.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--download",
        type=web_address,
        nargs="?",
        const=published.url,
        metavar="URL",
        help=f"download the published weights ({published.bytes / 1e9:.2f} GB) into the folder of the output,"
        " from their publisher or from a copy at URL",
    )
    source.add_argument("--weights", type=pathlib.Path, help="a file with the published weights")
    source.add_argument("--random", action="store_true", help="random weights, for tests and measurements")


def web_address(text):
    if not text.startswith(("https://", "http://")):
        raise argparse.ArgumentTypeError(f"{text} is not a web address")
    return text


def add_common(command):
    command.add_argument("--output", type=pathlib.Path, required=True, help="output folder, which must not exist")
    command.add_argument("--precision", choices=["fp16", "fp32"], default="fp16", help="precision of weights and most values")
    command.add_argument(
        "--no-golden",
        dest="golden",
        action="store_false",
        help="omit the golden drawing of the workers' self-test, which takes minutes at full size",
    )
    command.add_argument("--size", choices=["tiny", "full"], default="tiny", help="size of an engine with random weights")
    command.add_argument("--seed", type=int, default=1, help="seed of random weights")


main()
