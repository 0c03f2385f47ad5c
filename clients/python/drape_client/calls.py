"""Calls with retries, as generators of steps that both clients share and execute."""

from __future__ import annotations

import random
import secrets
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast
from urllib.parse import quote

import httpx

from .errors import DrapeApiError, DrapeConnectionError, DrapeTimeoutError, read_error

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


def path_of(*segments: str) -> str:
    return "/".join(["/tryon/v1", *(quote(segment, safe="") for segment in segments)])


def request(call: Call, policy: RetryPolicy) -> Steps[Result]:
    """The JSON of the response; None for an empty one. Retries transient errors."""
    response = yield from send(call, policy)
    answer: Any = None
    if response.status_code != 204:
        try:
            answer = response.json()
        except ValueError:
            raise read_error(response) from None
    return cast(Result, answer)


def send(call: Call, policy: RetryPolicy) -> Steps[httpx.Response]:
    failed = 0
    while True:
        try:
            response: httpx.Response = yield call
            if response.is_success:
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
    if error.status not in PASSING and not _is_still_running(error):
        return None
    return backoff if error.retry_after is None else error.retry_after + random.random() * SPREAD
