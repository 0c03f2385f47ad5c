"""The two clients: Drape, and AsyncDrape with the same methods as coroutines."""

from __future__ import annotations

import asyncio
import json
import re
import string
import time
from collections.abc import AsyncIterator, Generator, Iterator, Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import urlsplit

import anyio
import httpx

from .calls import Call, Pause, RetryPolicy, Steps
from .errors import (
    DrapeApiError,
    DrapeConnectionError,
    DrapeError,
    DrapeTimeoutError,
    damaged_response,
    invalid_field,
)
from .images import ImageInput, OutputInput, PersonInput
from .models import (
    AcceptedOutfit,
    AcceptedTryOn,
    Account,
    Analytics,
    Appeal,
    Credits,
    EngineList,
    Generation,
    Product,
    ProductList,
    ProductStatistics,
    TryOnConsent,
    Upload,
)
from .operations import OnProgress, Operations, describe_outfit, describe_try_on

Accepted = TypeVar("Accepted", AcceptedTryOn, AcceptedOutfit)
Result = TypeVar("Result")
POLL_INTERVAL = 2.0


class _Settings:
    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        retries: int = 4,
        timeout: float = 120.0,
        max_retry_delay: float = 60.0,
    ) -> None:
        """`url`: URL of the service. `api_key`: secret key sk_…. `retries`: maximum number of retries after transient errors.
        `timeout`: seconds without data after which an attempt ends. `max_retry_delay`: maximum Retry-After in seconds. Raises
        ValueError when `url` is not an http or https URL, or `api_key` not a key."""
        self._url = _read_url(url)
        self._api_key = None if api_key is None else _read_key(api_key)
        self._is_closed = False
        self._timeout = timeout
        self._operations = Operations(self._url, RetryPolicy(retries, max_retry_delay))

    def _describe(self, call: Call) -> dict[str, Any]:
        if self._is_closed:
            raise DrapeError("The client is closed. Create another one.")
        own = call.path.startswith("/")
        headers: dict[str, str] = {}
        if own and self._api_key is not None:
            headers["x-api-key"] = self._api_key
        if call.idempotency_key is not None:
            if not re.fullmatch("[ -~]*", call.idempotency_key):
                raise invalid_field("idempotency-key", "must be printable ASCII characters")
            headers["idempotency-key"] = call.idempotency_key
        if call.body is not None:
            headers["content-type"] = "application/json"
        return {
            "method": call.method,
            "url": self._url + call.path if own else call.path,
            "params": dict(call.query) or None,
            "headers": headers,
            "content": None if call.body is None else json.dumps(call.body),
            "files": list(call.files) or None,
        }


def _read_url(url: str) -> str:
    """Raises ValueError without the URL, which may contain a password."""
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
    except ValueError:
        is_url = False
    if not is_url:
        raise ValueError("url must be the address of the service, for example https://tryon.example.com.") from None
    return url.rstrip("/")


def _read_key(key: str) -> str:
    """The key without surrounding white space. Raises ValueError, without the key, when an HTTP header cannot carry it."""
    trimmed = key.strip(f"\ufeff{string.whitespace}")
    if re.fullmatch("[!-~]+", trimmed):
        return trimmed
    problem = "contains a character that no key has, such as a space, a line end or \"…\"" if trimmed else "is empty"
    raise ValueError(f"api_key {problem}. Copy the whole key again.")


class _LoggedURL(httpx.URL):
    """A URL that httpx logs without the query, which may contain a signature."""

    def __str__(self) -> str:
        return str(self.copy_with(query=None))


def _translate(error: Exception, timeout: float, response: httpx.Response | None) -> Exception:
    if isinstance(error, httpx.TimeoutException):
        return DrapeTimeoutError(f"The service sent nothing for {timeout} s.")
    if isinstance(error, httpx.InvalidURL):
        return DrapeConnectionError("The service sent an invalid link.")
    if response is not None:
        return damaged_response(response, error)
    return DrapeConnectionError(f"The service is unreachable: {error}")


def _try_on_fields(
    external_user_id: str | None,
    output: OutputInput | None,
    priority: str | None,
    max_wait_seconds: int | None,
    consent: TryOnConsent | None,
) -> dict[str, Any]:
    return {
        "externalUserId": external_user_id,
        "output": output,
        "priority": priority,
        "maxWaitSeconds": max_wait_seconds,
        "consent": consent,
    }


def _upload_fields(crop: bool | None, external_user_id: str | None, keep_for_days: int | None) -> dict[str, Any]:
    return {"crop": crop, "externalUserId": external_user_id, "keepForDays": keep_for_days}


class Drape(_Settings):
    """Client of the server API. Methods raise DrapeApiError for an error response, and DrapeConnectionError or DrapeTimeoutError
    without a response. Transient errors are retried with the same Idempotency-Key, so nothing is charged twice."""

    def __init__(self, url: str, **settings: Any) -> None:
        super().__init__(url, **settings)
        self._http = httpx.Client(timeout=self._timeout)

    __init__.__doc__ = _Settings.__init__.__doc__

    def __enter__(self) -> Drape:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._is_closed = True
        self._http.close()

    def try_on(
        self,
        *,
        person: PersonInput,
        product: str | Mapping[str, Any],
        external_user_id: str | None = None,
        output: OutputInput | None = None,
        priority: Literal["interactive", "batch"] | None = None,
        max_wait_seconds: int | None = None,
        consent: TryOnConsent | None = None,
        idempotency_key: str | None = None,
    ) -> TryOn:
        """Starts a try-on: `drape.try_on(person=…, product=…).wait()`. `product` is the ID of a product of the catalog, or the
        product itself as a dict with paths, bytes or URLs as images. Set `idempotency_key` to retry safely after a crash."""
        fields = _try_on_fields(external_user_id, output, priority, max_wait_seconds, consent)
        call = describe_try_on(person, product, fields, idempotency_key)
        return TryOn(self, self._run(self._operations.call(call)))

    def outfit(
        self,
        *,
        person: PersonInput,
        products: Sequence[str | Mapping[str, Any]],
        partial: Literal["refused", "allowed"] | None = None,
        external_user_id: str | None = None,
        output: OutputInput | None = None,
        priority: Literal["interactive", "batch"] | None = None,
        max_wait_seconds: int | None = None,
        consent: TryOnConsent | None = None,
        idempotency_key: str | None = None,
    ) -> OutfitTryOn:
        """Starts one try-on of 2 to 4 products, each as in `try_on`, with its `layer` if its category does not say it. `partial`:
        whether the image may leave out products that the engine refuses."""
        fields = _try_on_fields(external_user_id, output, priority, max_wait_seconds, consent)
        call = describe_outfit(person, products, {**fields, "partial": partial}, idempotency_key)
        return OutfitTryOn(self, self._run(self._operations.call(call)))

    def upload(
        self,
        photo: ImageInput,
        *,
        crop: bool | None = None,
        external_user_id: str | None = None,
        keep_for_days: Literal[1, 3, 7] | None = None,
        idempotency_key: str | None = None,
    ) -> Upload:
        """Stores the photo of a person. Use {"id": upload["imageId"]} as `person` in any number of try-ons."""
        fields = _upload_fields(crop, external_user_id, keep_for_days)
        return self._run(self._operations.upload(photo, fields, idempotency_key))

    def generation(self, generation_id: str) -> Generation:
        return self._run(self._operations.get("generations", generation_id))

    def wait(
        self,
        generation_id: str,
        *,
        on_progress: OnProgress = None,
        timeout: float | None = None,
        poll_interval: float = POLL_INTERVAL,
    ) -> Generation:
        """Returns the generation when it has completed. Calls `on_progress` with the current state and after each change. Raises
        DrapeGenerationError when it fails, and DrapeTimeoutError after `timeout` seconds, while the generation continues."""
        return self._run(self._operations.wait(generation_id, on_progress, timeout, poll_interval))

    def cancel(self, generation_id: str) -> Generation:
        """Cancels and refunds the generation. A generation that has ended stays unchanged."""
        return self._run(self._operations.cancel(generation_id))

    def appeal(self, generation_id: str, reason: str) -> Appeal:
        """Appeals the refusal by a safety check, free of charge; an operator decides. Another `reason` replaces that of an open appeal
        of the account. Raises DrapeApiError with VALIDATION_FAILED when no safety check refused the generation."""
        return self._run(self._operations.appeal(generation_id, reason))

    def find_appeal(self, generation_id: str) -> Appeal | None:
        """The appeal with the decision; None if the refusal has no appeal."""
        return self._run(self._operations.find_appeal(generation_id))

    def download(self, generation_id: str) -> bytes | None:
        """The image of a completed generation; None before completion and after expiry."""
        return self._run(self._operations.download(generation_id))

    def upsert_product(self, product: Mapping[str, Any], *, idempotency_key: str | None = None) -> Product:
        """Creates or updates the product with this externalId. Omitted fields keep their stored value."""
        return self._run(self._operations.upsert_product(product, idempotency_key))

    def product(self, external_id: str) -> Product:
        return self._run(self._operations.get("products", external_id))

    def products(self, *, limit: int | None = None, cursor: str | None = None) -> ProductList:
        """One page of the catalog."""
        return self._run(self._operations.get("products", limit=limit, cursor=cursor))

    def each_product(self) -> Iterator[Product]:
        """All products, page by page."""
        cursor: str | None = None
        while True:
            page = self.products(cursor=cursor)
            yield from page["items"]
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    def delete_product(self, external_id: str) -> None:
        self._run(self._operations.delete("products", external_id))

    def product_statistics(
        self, external_id: str, *, from_time: str | None = None, to_time: str | None = None
    ) -> ProductStatistics:
        query = {"from": from_time, "to": to_time}
        return self._run(self._operations.get("products", external_id, "stats", **query))

    def account(self) -> Account:
        return self._run(self._operations.get("account"))

    def credits(self) -> Credits:
        return self._run(self._operations.get("account", "credits"))

    def analytics(
        self, *, shop: str | None = None, from_day: str | None = None, to_day: str | None = None
    ) -> Analytics:
        """Funnel, conversion and e-mail collection of the days from `from_day` to `to_day`, both in UTC and included."""
        query = {"shop": shop, "from": from_day, "to": to_day}
        return self._run(self._operations.get("analytics", **query))

    def engines(self) -> EngineList:
        return self._run(self._operations.get("engines"))

    def erase_customer(self, external_user_id: str) -> None:
        """Deletes every image of the end user with this external_user_id."""
        self._run(self._operations.delete("customers", external_user_id))

    def _run(self, steps: Steps[Result]) -> Result:
        try:
            step = next(steps)
            while True:
                try:
                    answer = self._perform(step)
                except (DrapeApiError, DrapeConnectionError, DrapeTimeoutError) as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(answer)
        except StopIteration as end:
            result: Result = end.value
            return result

    def _perform(self, step: Call | Pause) -> httpx.Response | None:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        response = None
        try:
            request = self._http.build_request(**self._describe(step))
            request.url = _LoggedURL(request.url)
            response = self._http.send(request, stream=True)
            response.read()
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise _translate(error, self._timeout, response) from error
        return response


class _Started(Generic[Accepted]):
    def __init__(self, drape: Drape, accepted: Accepted) -> None:
        self._drape = drape
        #: Response of the service: queue, engine, estimates, warnings.
        self.accepted = accepted
        self.generation_id = accepted["generationId"]

    def wait(
        self, *, on_progress: OnProgress = None, timeout: float | None = None, poll_interval: float = POLL_INTERVAL
    ) -> Generation:
        """Like Drape.wait."""
        return self._drape.wait(
            self.generation_id, on_progress=on_progress, timeout=timeout, poll_interval=poll_interval
        )

    def cancel(self) -> Generation:
        return self._drape.cancel(self.generation_id)

    def download(self) -> bytes | None:
        return self._drape.download(self.generation_id)


class TryOn(_Started[AcceptedTryOn]):
    """An accepted try-on."""


class OutfitTryOn(_Started[AcceptedOutfit]):
    """An accepted outfit."""


class AsyncDrape(_Settings):
    """The methods of Drape as coroutines, on asyncio and trio: `await drape.try_on(person=…, product=…).wait()`."""

    def __init__(self, url: str, **settings: Any) -> None:
        super().__init__(url, **settings)
        self._http: dict[object, httpx.AsyncClient] = {}

    __init__.__doc__ = _Settings.__init__.__doc__

    async def __aenter__(self) -> AsyncDrape:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        self._is_closed = True
        http = self._http.pop(_current_loop(), None)
        self._http.clear()
        if http is not None:
            await http.aclose()

    def try_on(
        self,
        *,
        person: PersonInput,
        product: str | Mapping[str, Any],
        external_user_id: str | None = None,
        output: OutputInput | None = None,
        priority: Literal["interactive", "batch"] | None = None,
        max_wait_seconds: int | None = None,
        consent: TryOnConsent | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncTryOn:
        """Like Drape.try_on. Sent when the try-on or its `wait` is awaited."""
        fields = _try_on_fields(external_user_id, output, priority, max_wait_seconds, consent)
        return AsyncTryOn(self, describe_try_on(person, product, fields, idempotency_key))

    def outfit(
        self,
        *,
        person: PersonInput,
        products: Sequence[str | Mapping[str, Any]],
        partial: Literal["refused", "allowed"] | None = None,
        external_user_id: str | None = None,
        output: OutputInput | None = None,
        priority: Literal["interactive", "batch"] | None = None,
        max_wait_seconds: int | None = None,
        consent: TryOnConsent | None = None,
        idempotency_key: str | None = None,
    ) -> AsyncOutfitTryOn:
        """Like Drape.outfit. Sent when the outfit or its `wait` is awaited."""
        fields = _try_on_fields(external_user_id, output, priority, max_wait_seconds, consent)
        call = describe_outfit(person, products, {**fields, "partial": partial}, idempotency_key)
        return AsyncOutfitTryOn(self, call)

    async def upload(
        self,
        photo: ImageInput,
        *,
        crop: bool | None = None,
        external_user_id: str | None = None,
        keep_for_days: Literal[1, 3, 7] | None = None,
        idempotency_key: str | None = None,
    ) -> Upload:
        fields = _upload_fields(crop, external_user_id, keep_for_days)
        return await self._run(self._operations.upload(photo, fields, idempotency_key))

    async def generation(self, generation_id: str) -> Generation:
        return await self._run(self._operations.get("generations", generation_id))

    async def wait(
        self,
        generation_id: str,
        *,
        on_progress: OnProgress = None,
        timeout: float | None = None,
        poll_interval: float = POLL_INTERVAL,
    ) -> Generation:
        return await self._run(self._operations.wait(generation_id, on_progress, timeout, poll_interval))

    async def cancel(self, generation_id: str) -> Generation:
        return await self._run(self._operations.cancel(generation_id))

    async def appeal(self, generation_id: str, reason: str) -> Appeal:
        return await self._run(self._operations.appeal(generation_id, reason))

    async def find_appeal(self, generation_id: str) -> Appeal | None:
        return await self._run(self._operations.find_appeal(generation_id))

    async def download(self, generation_id: str) -> bytes | None:
        return await self._run(self._operations.download(generation_id))

    async def upsert_product(self, product: Mapping[str, Any], *, idempotency_key: str | None = None) -> Product:
        return await self._run(self._operations.upsert_product(product, idempotency_key))

    async def product(self, external_id: str) -> Product:
        return await self._run(self._operations.get("products", external_id))

    async def products(self, *, limit: int | None = None, cursor: str | None = None) -> ProductList:
        return await self._run(self._operations.get("products", limit=limit, cursor=cursor))

    async def each_product(self) -> AsyncIterator[Product]:
        cursor: str | None = None
        while True:
            page = await self.products(cursor=cursor)
            for product in page["items"]:
                yield product
            cursor = page.get("nextCursor")
            if cursor is None:
                return

    async def delete_product(self, external_id: str) -> None:
        await self._run(self._operations.delete("products", external_id))

    async def product_statistics(
        self, external_id: str, *, from_time: str | None = None, to_time: str | None = None
    ) -> ProductStatistics:
        query = {"from": from_time, "to": to_time}
        return await self._run(self._operations.get("products", external_id, "stats", **query))

    async def account(self) -> Account:
        return await self._run(self._operations.get("account"))

    async def credits(self) -> Credits:
        return await self._run(self._operations.get("account", "credits"))

    async def analytics(
        self, *, shop: str | None = None, from_day: str | None = None, to_day: str | None = None
    ) -> Analytics:
        """Funnel, conversion and e-mail collection of the days from `from_day` to `to_day`, both in UTC and included."""
        query = {"shop": shop, "from": from_day, "to": to_day}
        return await self._run(self._operations.get("analytics", **query))

    async def engines(self) -> EngineList:
        return await self._run(self._operations.get("engines"))

    async def erase_customer(self, external_user_id: str) -> None:
        await self._run(self._operations.delete("customers", external_user_id))

    async def _run(self, steps: Steps[Result]) -> Result:
        try:
            step = next(steps)
            while True:
                try:
                    answer = await self._perform(step)
                except (DrapeApiError, DrapeConnectionError, DrapeTimeoutError) as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(answer)
        except StopIteration as end:
            result: Result = end.value
            return result

    async def _perform(self, step: Call | Pause) -> httpx.Response | None:
        if isinstance(step, Pause):
            await anyio.sleep(step.seconds)
            return None
        response = None
        try:
            described, http = self._describe(step), self._open()
            request = http.build_request(**described)
            request.url = _LoggedURL(request.url)
            response = await http.send(request, stream=True)
            await response.aread()
        except (httpx.RequestError, httpx.InvalidURL) as error:
            raise _translate(error, self._timeout, response) from error
        return response

    def _open(self) -> httpx.AsyncClient:
        """The connections of the current event loop. They end with their loop, so several `asyncio.run` need several."""
        current = _current_loop()
        if current not in self._http:
            self._http = {loop: http for loop, http in self._http.items() if not _has_ended(loop)}
            self._http[current] = httpx.AsyncClient(timeout=self._timeout)
        return self._http[current]


def _current_loop() -> object:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        import trio  # type: ignore[import-not-found, unused-ignore]

        return trio.lowlevel.current_trio_token()


def _has_ended(loop: Any) -> bool:
    """Whether connections of the loop are of no more use. Loops of trio do not say so."""
    return bool(loop.is_closed()) if hasattr(loop, "is_closed") else True


class _AsyncStarted(Generic[Accepted]):
    def __init__(self, drape: AsyncDrape, call: Call) -> None:
        self._drape = drape
        self._call = call
        self._accepted: Accepted | None = None

    def __await__(self) -> Generator[Any, Any, Accepted]:
        return self._accept().__await__()

    async def wait(
        self, *, on_progress: OnProgress = None, timeout: float | None = None, poll_interval: float = POLL_INTERVAL
    ) -> Generation:
        """Like AsyncDrape.wait."""
        accepted = await self._accept()
        return await self._drape.wait(
            accepted["generationId"], on_progress=on_progress, timeout=timeout, poll_interval=poll_interval
        )

    async def cancel(self) -> Generation:
        return await self._drape.cancel((await self._accept())["generationId"])

    async def download(self) -> bytes | None:
        return await self._drape.download((await self._accept())["generationId"])

    async def _accept(self) -> Accepted:
        # Concurrent calls send the same Idempotency-Key and get the same generation.
        if self._accepted is not None:
            return self._accepted
        accepted: Accepted = await self._drape._run(self._drape._operations.call(self._call))
        self._accepted = accepted
        return accepted


class AsyncTryOn(_AsyncStarted[AcceptedTryOn]):
    """A try-on. `await` it for the response of the service, or its `wait` for the result."""


class AsyncOutfitTryOn(_AsyncStarted[AcceptedOutfit]):
    """An outfit, awaited as a try-on."""
