"""Images of calls: bytes are sent as files, other sources as JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, BinaryIO, TypedDict, Union

from typing_extensions import NotRequired, TypeAlias

from .errors import DrapeApiError
from .models import TryOnOutput

#: 10 MB (2^20 bytes each), the limit of the service.
MAX_FILE_BYTES = 10 * 1024 * 1024


class UrlSource(TypedDict):
    url: str


class IdSource(TypedDict):
    id: str


#: A path (`pathlib.Path`), bytes, an open file, or {"url": …}. Text is refused: it could be a path or a URL.
ImageInput: TypeAlias = "Union[os.PathLike[str], bytes, bytearray, memoryview, BinaryIO, UrlSource]"
#: An image, or {"id": …} of an upload.
PersonInput: TypeAlias = "Union[ImageInput, IdSource]"


class PersonSource(TypedDict):
    source: PersonInput


class MaskInput(TypedDict):
    image: Union[PersonInput, PersonSource]
    keep: NotRequired[bool]


class OutputInput(TryOnOutput):
    """Options of the result. Takes the image of a mask as the photo of a person."""

    mask: NotRequired[MaskInput]


class Files:
    """The files of a form, named in order."""

    def __init__(self) -> None:
        self._files: list[tuple[str, Any]] = []

    def source_of(self, image: PersonInput) -> Mapping[str, Any]:
        if isinstance(image, Mapping):
            return image
        name = f"file-{len(self._files)}"
        self._files.append((name, (name, read_image(image))))
        return {"fileKey": name}

    def describe_product(self, product: Mapping[str, Any]) -> dict[str, Any]:
        if product.get("images") is None:
            return dict(product)
        return {**product, "images": [self._describe_image(image) for image in product["images"]]}

    def describe_output(self, output: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
        mask = output and output.get("mask")
        if not output or not mask or mask.get("image") is None:
            return output
        return {**output, "mask": {**mask, "image": self._describe_image(mask["image"])}}

    def _describe_image(self, image: Any) -> Mapping[str, Any]:
        if isinstance(image, Mapping) and "source" in image:
            return {**image, "source": self.source_of(image["source"])}
        return {"source": self.source_of(image)}

    def wrap(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """`body` of a call, or its `files`."""
        sent = {name: value for name, value in data.items() if value is not None}
        if not self._files:
            return {"body": sent}
        return {"files": [("data", (None, json.dumps(sent))), *self._files]}


def read_image(image: Any) -> bytes:
    """Raises DrapeApiError FILE_TOO_LARGE for more than 10 MB before anything is sent, and OSError of the file system."""
    if isinstance(image, (bytes, bytearray, memoryview)):
        content = bytes(image)
    elif isinstance(image, os.PathLike):
        with open(image, "rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    elif hasattr(image, "read"):
        content = image.read(MAX_FILE_BYTES + 1)
    else:
        raise TypeError(f"An image is a pathlib.Path, bytes, an open file or {{'url': …}}, not {type(image).__name__}.")
    if len(content) > MAX_FILE_BYTES:
        raise DrapeApiError("The file is larger than 10 MB.", code="FILE_TOO_LARGE", status=413)
    return content
