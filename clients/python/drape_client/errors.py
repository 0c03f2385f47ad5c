"""Errors of the client; DrapeError is the base of all of them."""

from __future__ import annotations

import copyreg
import json
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import httpx
from typing_extensions import TypeAlias

from .models import ErrorCode, ErrorDetail, Generation

#: UNEXPECTED_ANSWER: the response is not from the service but, for example, from a proxy.
Code: TypeAlias = "ErrorCode | Literal['UNEXPECTED_ANSWER']"


class DrapeError(Exception):
    """Base of all errors of this package. Can be copied and pickled, for example between processes."""

    def __reduce__(self) -> tuple[Any, ...]:
        # The default calls __init__ with `args`, which differ from its parameters.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


class DrapeApiError(DrapeError):
    """Error response of the service. Branch on `code`."""

    def __init__(
        self,
        message: str,
        *,
        code: Code,
        status: int,
        details: Any = None,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code: Code = code
        #: HTTP status.
        self.status = status
        #: Problems of fields as {"path", "message"}, or other facts of the code.
        self.details = details
        #: ID of the request in the logs of the service.
        self.request_id = request_id
        #: Seconds after which to retry.
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class DrapeConnectionError(DrapeError):
    """No response: no network, an unknown host, an aborted connection."""


class DrapeTimeoutError(DrapeError):
    """No response, or no end of a generation, within the time limit."""


class DrapeGenerationError(DrapeError):
    """The generation failed; its credit was refunded."""

    def __init__(self, generation: Generation) -> None:
        super().__init__(generation.get("errorMessage", "The generation failed."))
        #: Error code to branch on; None when the service does not know the cause.
        self.code = generation.get("errorCode")
        #: Images that caused the error, by their fields in the call, e.g. person.image or products[0].images[1].
        self.details: list[ErrorDetail] = generation.get("errorDetails", [])
        self.generation = generation


class DrapeWebhookError(DrapeError):
    """The message has no valid signature of a given secret, or is older than 5 minutes."""


def invalid_field(path: str, message: str) -> DrapeApiError:
    """VALIDATION_FAILED, as the service would answer."""
    details = [{"path": path, "message": message}]
    return DrapeApiError(f"{path} {message}.", code="VALIDATION_FAILED", status=400, details=details)


def read_error(response: httpx.Response) -> DrapeApiError:
    """Parses an error response, or a redirect, which is never followed: its target would receive key and photo."""
    body = read_object(response) or {}
    code, message = body.get("code"), body.get("message")
    if response.has_redirect_location:
        return _unexpected(response, _describe_redirect(response))
    if not isinstance(code, str) or not isinstance(message, str):
        return _unexpected(response, f"The response ({response.status_code}) is not from the service.")
    known: Any = code
    return DrapeApiError(message, code=known, details=body.get("details"), **_context_of(response))


def damaged_response(response: httpx.Response, reason: Exception) -> DrapeApiError:
    """The error of a response whose body cannot be read."""
    return _unexpected(response, f"The response ({response.status_code}) is damaged or incomplete: {reason}")


def read_object(response: httpx.Response) -> dict[str, Any] | None:
    """The JSON object of the body; None for any other body."""
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _unexpected(response: httpx.Response, message: str) -> DrapeApiError:
    return DrapeApiError(message, code="UNEXPECTED_ANSWER", **_context_of(response))


def _context_of(response: httpx.Response) -> dict[str, Any]:
    return {
        "status": response.status_code,
        "request_id": response.headers.get("x-request-id"),
        "retry_after": _read_retry_after(response.headers.get("retry-after")),
    }


def _describe_redirect(response: httpx.Response) -> str:
    """Names the target without its query, which may contain a signature."""
    try:
        target = response.url.join(response.headers["location"])
        name = f"{target.scheme}://{target.netloc.decode()}{target.path}"
    except (httpx.InvalidURL, ValueError):
        name = "another address"
    return f"The request was redirected to {name}, which received neither the key nor data. Set url to the address of the service."


def _read_retry_after(header: str | None) -> float | None:
    """Seconds; the header contains a number or an HTTP date."""
    if header is None:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        date = parsedate_to_datetime(header)
    except (TypeError, ValueError):
        return None
    if date.tzinfo is None:
        date = date.replace(tzinfo=timezone.utc)
    return max(0.0, (date - datetime.now(timezone.utc)).total_seconds())
