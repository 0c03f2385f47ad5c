"""Calls with retries, as generators of steps that both clients share and execute."""

from __future__ import annotations

import random
import re
import secrets
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast
from urllib.parse import quote

import httpx

from .errors import (
    DrapeApiError,
    DrapeConnectionError,
    DrapeTimeoutError,
    invalid_field,
    read_error,
    read_object,
)

FIRST_DELAY = 0.5
MAX_DELAY = 8.0
#: Jitter for callers that were given the same Retry-After.
SPREAD = 0.25
PASSING = frozenset({429, 500, 502, 503, 504})
#: Retries while an earlier attempt is still running; the service answers every second.
ATTEMPTS_FOR_FIRST = 45


@dataclass(frozen=True)
class Call:
    method: str
    #: Path below the URL of the service, or a complete link of the service, to which no key is sent.
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    #: Sent as JSON, unless there are files.
    body: Any = None
    #: Parts of a form, as bytes, so that every attempt sends the same.
    files: Sequence[tuple[str, Any]] = ()
    idempotency_key: str | None = None


@dataclass(frozen=True)
class Pause:
    seconds: float


Result = TypeVar("Result")
#: Yields calls, which receive responses, and pauses.
Steps = Generator["Call | Pause", Any, Result]


@dataclass(frozen=True)
class RetryPolicy:
    #: Maximum number of retries.
    retries: int
    #: Maximum Retry-After, in seconds.
    max_retry_delay: float


def new_key() -> str:
    """An Idempotency-Key for all attempts of a call."""
    return secrets.token_hex(16)


#: URL parsers and proxies drop these segments: the request would have another path.
DROPPED = re.compile(r"(\.|%2e){0,2}", re.IGNORECASE)


def path_of(*segments: str) -> str:
    """Raises DrapeApiError VALIDATION_FAILED for a segment, such as an ID, that a URL cannot carry."""
    return "/".join(["/tryon/v1", *map(_encode, segments)])


def _encode(segment: str) -> str:
    try:
        if isinstance(segment, str) and not DROPPED.fullmatch(segment):
            return quote(segment, safe="")
    except UnicodeEncodeError:
        pass
    raise invalid_field("id", f"cannot be part of a URL: {segment!a}")


def request(call: Call, policy: RetryPolicy) -> Steps[Result]:
    """The JSON object of the response; None for an empty one. Retries transient errors."""
    response = yield from send(call, policy, is_object=True)
    return cast(Result, None if response.status_code == 204 else read_object(response))


def send(call: Call, policy: RetryPolicy, *, is_object: bool = False) -> Steps[httpx.Response]:
    """The response with a success status. `is_object`: any other body than a JSON object is an error."""
    failed = 0
    while True:
        try:
            response: httpx.Response = yield call
            is_read = not is_object or response.status_code == 204 or read_object(response) is not None
            if response.is_success and is_read:
                return response
            raise read_error(response)
        except (DrapeApiError, DrapeConnectionError, DrapeTimeoutError) as error:
            delay = _delay_after(error, failed) if failed < _limit_of(error, policy) else None
            if delay is None or delay > policy.max_retry_delay:
                raise
        failed += 1
        yield Pause(delay)


def _limit_of(error: Exception, policy: RetryPolicy) -> int:
    if policy.retries > 0 and _is_still_running(error):
        return max(policy.retries, ATTEMPTS_FOR_FIRST)
    return policy.retries


def _is_still_running(error: Exception) -> bool:
    return isinstance(error, DrapeApiError) and error.code == "IDEMPOTENCY_KEY_IN_USE"


def _delay_after(error: Exception, failed: int) -> float | None:
    """Seconds until the next attempt; None when a retry would fail the same way."""
    backoff: float = min(MAX_DELAY, FIRST_DELAY * 2**failed) * (0.5 + random.random() / 2)
    if not isinstance(error, DrapeApiError):
        return backoff
    # The call succeeded, and its response was damaged on the way.
    is_unreadable = error.code == "UNEXPECTED_ANSWER" and 200 <= error.status < 300
    if error.status not in PASSING and not is_unreadable and not _is_still_running(error):
        return None
    return backoff if error.retry_after is None else error.retry_after + random.random() * SPREAD
