"""Exports the model files of an engine from published weights, or from random numbers."""

import argparse
import pathlib
import sys

from .export import EngineFolder
from .failure import ExportFailure
from .fashn_vton import engine as fashn_vton
from .folder import new_folder

ENGINES = {"fashn-vton": fashn_vton}


def main():
    arguments = read_arguments()
    try:
        with new_folder(arguments.output) as path:
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
        command.set_defaults(engine=engine, command=command)
        for source, meaning in engine.SOURCES.items():
            command.add_argument(f"--{source}", type=pathlib.Path, help=meaning)
        if hasattr(engine, "add_options"):
            engine.add_options(command)
        add_common(command)
    arguments = parser.parse_args()
    arguments.output = arguments.output.absolute()
    check_source(arguments)
    return arguments


def add_common(command):
    command.add_argument("--output", type=pathlib.Path, required=True, help="output folder, which must not exist")
    command.add_argument("--precision", choices=["fp16", "fp32"], default="fp16", help="precision of weights and most values")
    command.add_argument(
        "--no-golden",
        dest="golden",
        action="store_false",
        help="omit the golden drawing of the workers' self-test, which takes minutes at full size",
    )
    command.add_argument("--random", action="store_true", help="random weights, for tests and measurements")
    command.add_argument("--size", choices=["tiny", "full"], default="tiny", help="size of an engine with random weights")
    command.add_argument("--seed", type=int, default=1, help="seed of random weights")


def check_source(arguments):
    given = [name for name in arguments.engine.SOURCES if getattr(arguments, name) is not None]
    if arguments.random == bool(given):
        options = " and ".join(f"--{name}" for name in arguments.engine.SOURCES)
        arguments.command.error(f"give either {options}, or --random")
    missing = [name for name in arguments.engine.SOURCES if name not in given]
    if given and missing:
        arguments.command.error(f"--{missing[0]} is missing")


main()
