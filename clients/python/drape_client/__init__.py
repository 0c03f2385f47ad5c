"""Client for Drape, the open, self-hosted virtual try-on platform."""

from .client import AsyncDrape, AsyncOutfitTryOn, AsyncTryOn, Drape, OutfitTryOn, TryOn
from .errors import (
    DrapeApiError,
    DrapeConnectionError,
    DrapeError,
    DrapeGenerationError,
    DrapeTimeoutError,
    DrapeWebhookError,
)
from .images import MAX_FILE_BYTES, ImageInput, MaskInput, OutputInput, PersonInput
from .webhook import verify_webhook

__all__ = [
    "MAX_FILE_BYTES",
    "AsyncDrape",
    "AsyncOutfitTryOn",
    "AsyncTryOn",
    "Drape",
    "DrapeApiError",
    "DrapeConnectionError",
    "DrapeError",
    "DrapeGenerationError",
    "DrapeTimeoutError",
    "DrapeWebhookError",
    "ImageInput",
    "MaskInput",
    "OutfitTryOn",
    "OutputInput",
    "PersonInput",
    "TryOn",
    "verify_webhook",
]
