"""Writes the graphs of an engine, their weights and what describes them into a folder."""

import hashlib
import json

from .kubernetes import render_resource
from .weight_storage import FileStorage, InlineStorage


class EngineFolder:
    """The files of one engine under construction."""

    def __init__(self, path, *, half):
        self.path, self.half = path, half
        self.models = []

    def write_small(self, name, build):
        """Writes a graph that holds its weights. `build` is a function of `half` and `storage`."""
        self.save(name, build(half=self.half, storage=InlineStorage()), [])

    def write_large(self, builds, *, weights_file):
        """Writes graphs, by name, whose weights lie in one file beside them that each of them reads."""
        storage = FileStorage(self.path / weights_file)
        try:
            for name, build in builds.items():
                self.save(name, build(half=self.half, storage=storage), [weights_file])
        finally:
            storage.close()

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


def describe_tensors(graph):
    return {
        side: [{"name": value.name, "shape": describe_shape(value)} for value in values]
        for side, values in (("inputs", graph.input), ("outputs", graph.output))
    }


def describe_shape(value):
    """Sizes, or the name of a size that is open."""
    return [size.dim_param or size.dim_value for size in value.type.tensor_type.shape.dim]


def fingerprint(path):
    with open(path, "rb") as file:
        return {"sha256": hashlib.file_digest(file, "sha256").hexdigest(), "bytes": path.stat().st_size}
