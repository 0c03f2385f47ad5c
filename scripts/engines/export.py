"""Writes the graphs of an engine, their weights and their manifest into a folder."""

import hashlib
import json

import onnx
from google.protobuf.message import DecodeError

from .failure import ExportFailure
from .kubernetes import render_resource
from .weight_storage import FileStorage, InlineStorage


class EngineFolder:
    """The files of one engine under construction."""

    def __init__(self, path, *, half):
        self.path, self.half = path, half
        self.models = []

    def write_small(self, name, build):
        """Writes a graph with inline weights. `build` is a function of `half` and `storage`."""
        self.save(name, build(half=self.half, storage=InlineStorage()), [])

    def write_large(self, builds, *, weights_file):
        """Writes graphs, by name, that share one external file of weights."""
        storage = FileStorage(self.path / weights_file)
        try:
            for name, build in builds.items():
                self.save(name, build(half=self.half, storage=storage), [weights_file])
        finally:
            storage.close()

    def copy(self, name, path):
        """Copies a graph with inline weights unchanged."""
        (self.path / f"{name}.onnx").write_bytes(path.read_bytes())
        graph = read_graph(path)
        self.models.append({"name": name, "file": f"{name}.onnx", "weights": [], **describe_tensors(graph)})

    def save(self, name, model, weights):
        file = f"{name}.onnx"
        (self.path / file).write_bytes(model.SerializeToString(deterministic=True))
        self.models.append({"name": name, "file": file, "weights": weights, **describe_tensors(model.graph)})

    def finish(self, manifest, *, source):
        """Writes `engine.json`, with size and SHA-256 of every other file, and the resource that lists them all."""
        prints = {file.name: fingerprint(file) for file in sorted(self.path.iterdir())}
        origin = {"license": manifest["license"]["spdx"], "source": source}
        models = [{**model, **prints[model["file"]], **origin} for model in self.models]
        files = [{"path": name, **fingerprinted} for name, fingerprinted in prints.items()]
        described = self.path / "engine.json"
        text = json.dumps({**manifest, "models": models, "files": files}, indent=2, ensure_ascii=False)
        described.write_text(text + "\n", encoding="utf-8")
        resource = render_resource(manifest, [*files, {"path": described.name, **fingerprint(described)}])
        (self.path / "kubernetes.yaml").write_text(resource, encoding="utf-8")


def read_graph(path):
    """Fails if the file is not a graph, or has external weights."""
    try:
        model = onnx.load(path, load_external_data=False)
    except (OSError, DecodeError) as error:
        raise ExportFailure(f"{path} cannot be read as an ONNX graph (is it truncated?): {error}") from error
    if not model.graph.output:
        raise ExportFailure(f"{path} cannot be read as an ONNX graph: it has no outputs")
    if any(weight.external_data for weight in model.graph.initializer):
        raise ExportFailure(f"{path} has external weights; only a graph with inline weights is supported")
    return model.graph


def describe_tensors(graph):
    return {
        side: [{"name": value.name, "shape": describe_shape(value)} for value in values]
        for side, values in (("inputs", fed_inputs(graph)), ("outputs", graph.output))
    }


def fed_inputs(graph):
    """Older exporters list weights among the inputs."""
    weights = {weight.name for weight in graph.initializer}
    return [value for value in graph.input if value.name not in weights]


def describe_shape(value):
    """Sizes, or the names of dynamic sizes."""
    return [size.dim_param or size.dim_value for size in value.type.tensor_type.shape.dim]


def fingerprint(path):
    with open(path, "rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "bytes": path.stat().st_size}
