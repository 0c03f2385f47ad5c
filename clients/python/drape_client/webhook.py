"""Verification of webhooks (Standard Webhooks)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping, Sequence

from .errors import DrapeWebhookError
from .models import WebhookMessage

#: Maximum clock difference of sender and receiver, in seconds.
TOLERANCE = 300


def verify_webhook(
    body: bytes | str, headers: Mapping[str, str], secrets: str | Sequence[str], *, now: float | None = None
) -> WebhookMessage:
    """Verifies the signature with any of the secrets `whsec_…` and returns the message. `body` is the received body, before any
    parsing. The header webhook-id is the same in each redelivery. Raises DrapeWebhookError."""
    received = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp, signatures = (
        _header(received, name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
    )
    current = time.time() if now is None else now
    if not (timestamp.isascii() and timestamp.isdigit()) or abs(current - int(timestamp)) > TOLERANCE:
        raise DrapeWebhookError("The webhook was not signed within the last 5 minutes.")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{message_id}.{timestamp}.".encode() + content
    expected = [_sign(secret, signed) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    for signature in signatures.split(" "):
        if any(hmac.compare_digest(f"v1,{one}".encode(), signature.encode()) for one in expected):
            message: WebhookMessage = json.loads(content)
            return message
    raise DrapeWebhookError("The webhook has no valid signature of a given secret.")


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise DrapeWebhookError(f"The header {name} is missing.")
    return value


def _sign(secret: str, signed: bytes) -> str:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except binascii.Error:
        key = b""
    if not key:
        raise DrapeWebhookError("A secret must be whsec_ followed by base64.")
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
