"""The operations of the API as steps, for both clients."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, TypeVar
from urllib.parse import urljoin

from typing_extensions import TypeAlias

from .calls import Call, Pause, RetryPolicy, Steps, new_key, path_of, request, send
from .errors import DrapeApiError, DrapeGenerationError, DrapeTimeoutError
from .images import Files, PersonInput, read_image
from .models import Generation

Answer = TypeVar("Answer")
OnProgress: TypeAlias = "Optional[Callable[[Generation], object]]"


@dataclass(frozen=True)
class Operations:
    url: str
    policy: RetryPolicy

    def call(self, call: Call) -> Steps[Answer]:
        return request(call, self.policy)

    def get(self, *segments: str, **query: Any) -> Steps[Answer]:
        return self.call(Call("GET", path_of(*segments), {k: v for k, v in query.items() if v is not None}))

    def delete(self, *segments: str) -> Steps[Answer]:
        return self.call(Call("DELETE", path_of(*segments)))

    def cancel(self, generation_id: str) -> Steps[Answer]:
        return self.call(Call("POST", path_of("generations", generation_id, "cancel")))

    def appeal(self, generation_id: str, reason: str) -> Steps[Answer]:
        return self.call(Call("POST", path_of("generations", generation_id, "appeal"), body={"reason": reason}))

    def find_appeal(self, generation_id: str) -> Steps[Answer]:
        try:
            return (yield from self.get("generations", generation_id, "appeal"))
        except DrapeApiError as error:
            if error.code == "APPEAL_NOT_FOUND":
                return None
            raise

    def upsert_product(self, product: Mapping[str, Any], idempotency_key: str | None) -> Steps[Answer]:
        files = Files()
        body = files.wrap(files.describe_product(product))
        return self.call(Call("POST", path_of("products"), idempotency_key=idempotency_key or new_key(), **body))

    def upload(self, photo: Any, fields: Mapping[str, Any], idempotency_key: str | None) -> Steps[Answer]:
        texts = {name: v if isinstance(v, str) else json.dumps(v) for name, v in fields.items() if v is not None}
        parts = [*((name, (None, text)) for name, text in texts.items()), ("file", ("file", read_image(photo)))]
        key = idempotency_key or new_key()
        return self.call(Call("POST", path_of("images", "upload"), files=parts, idempotency_key=key))

    def wait(
        self, generation_id: str, on_progress: OnProgress, timeout: float | None, poll_interval: float
    ) -> Steps[Generation]:
        deadline = None if timeout is None else time.monotonic() + timeout
        reported: object = None
        while True:
            generation: Generation = yield from self.get("generations", generation_id)
            state = [generation.get(name) for name in ("status", "progress", "queuePosition", "updatedAt")]
            if on_progress is not None and state != reported:
                reported = state
                on_progress(generation)
            if generation["status"] == "COMPLETED":
                return generation
            if generation["status"] == "FAILED":
                raise DrapeGenerationError(generation)
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise DrapeTimeoutError(f"{generation_id} has not ended within {timeout} s.")
            yield Pause(poll_interval if left is None else min(poll_interval, left))

    def download(self, generation_id: str) -> Steps[bytes | None]:
        generation: Generation = yield from self.get("generations", generation_id)
        link = generation.get("resultImageUrl")
        if not link:
            return None
        response = yield from send(Call("GET", urljoin(f"{self.url}/", link)), self.policy)
        return response.content


def describe_try_on(
    person: PersonInput, product: str | Mapping[str, Any], fields: Mapping[str, Any], idempotency_key: str | None
) -> Call:
    """The call of a try-on, with one Idempotency-Key for all of its attempts."""
    return _describe("try-on", person, [product], fields, idempotency_key)


def describe_outfit(
    person: PersonInput,
    products: Sequence[str | Mapping[str, Any]],
    fields: Mapping[str, Any],
    idempotency_key: str | None,
) -> Call:
    """The call of an outfit, likewise."""
    return _describe("outfits", person, products, fields, idempotency_key)


def _describe(
    path: str,
    person: PersonInput,
    products: Sequence[str | Mapping[str, Any]],
    fields: Mapping[str, Any],
    idempotency_key: str | None,
) -> Call:
    files = Files()
    described = [{"externalId": each} if isinstance(each, str) else files.describe_product(each) for each in products]
    sent = {**fields, "output": files.describe_output(fields.get("output"))}
    data = {"products": described, "person": {"image": {"source": files.source_of(person)}}, **sent}
    return Call("POST", path_of(path), idempotency_key=idempotency_key or new_key(), **files.wrap(data))
