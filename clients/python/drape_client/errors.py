"""Errors of the client; DrapeError is the base of all of them."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Literal

import httpx
from typing_extensions import TypeAlias

from .models import ErrorCode, ErrorDetail, Generation

#: UNEXPECTED_ANSWER is an answer that is not of the service: the page of a proxy, for example.
Code: TypeAlias = "ErrorCode | Literal['UNEXPECTED_ANSWER']"


class DrapeError(Exception):
    """Base of all errors of this package."""


class DrapeApiError(DrapeError):
    """The service refused. Branch on `code`."""

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
        #: Names the request in the logs of the service.
        self.request_id = request_id
        #: Seconds after which the service accepts the call again.
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class DrapeConnectionError(DrapeError):
    """No answer: no network, an unknown host, a broken connection."""


class DrapeTimeoutError(DrapeError):
    """No answer, or no end of a generation, in time."""


class DrapeGenerationError(DrapeError):
    """The generation failed; its credit was refunded."""

    def __init__(self, generation: Generation) -> None:
        super().__init__(generation.get("errorMessage", "The generation failed."))
        #: Code to branch on; None when the service knows no more than that it failed.
        self.code = generation.get("errorCode")
        #: Images at fault by their fields in the call, as person.image or products[0].images[1].
        self.details: list[ErrorDetail] = generation.get("errorDetails", [])
        self.generation = generation


class DrapeWebhookError(DrapeError):
    """The message was not signed with a known secret, or not within the last 5 minutes."""


def read_error(response: httpx.Response) -> DrapeApiError:
    """The error in an answer."""
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
    message = f"The answer ({response.status_code}) is not one of the service."
    return DrapeApiError(message, code="UNEXPECTED_ANSWER", **known)


def _read_retry_after(header: str | None) -> float | None:
    """Seconds; the header has a number or a date."""
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
