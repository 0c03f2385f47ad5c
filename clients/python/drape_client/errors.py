"""Errors of the client; DrapeError is the base of all of them."""

from __future__ import annotations

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
    """Base of all errors of this package."""


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


def read_error(response: httpx.Response) -> DrapeApiError:
    """Parses an error response."""
    known: dict[str, Any] = {
        "status": response.status_code,
        "request_id": response.headers.get("x-request-id"),
        "retry_after": _read_retry_after(response.headers.get("retry-after")),
    }
    try:
        body = json.loads(response.content)
    except ValueError:
        body = None
    if isinstance(body, dict) and isinstance(body.get("code"), str) and isinstance(body.get("message"), str):
        return DrapeApiError(body["message"], code=body["code"], details=body.get("details"), **known)
    message = f"The response ({response.status_code}) is not from the service."
    return DrapeApiError(message, code="UNEXPECTED_ANSWER", **known)


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
