# Written by scripts/client python-models from the OpenAPI document; changes by hand are lost.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from typing_extensions import NotRequired


class TryOnProductImageSource(TypedDict):
    """Exactly one of url and fileKey."""

    url: NotRequired[str]
    """An http or https address, or the sourceUrl (upload://…) of a stored image of the account."""

    fileKey: NotRequired[str]
    """The name of a file field of the multipart body."""


class TryOnProductImage(TypedDict):
    source: TryOnProductImageSource
    """Exactly one of url and fileKey."""

    classifications: NotRequired[dict[str, Any]]
    """Classifications of the image. Known keys: type (flat_lay, ghost_mannequin, on_model, detail, other), view (front, back, side) and category (tops, bottoms, one-pieces, outerwear, other), in any letter case; an unknown value is ignored, with a warning. on_model: true is the same as type: on_model. Other keys are stored and returned. At most 4 KB as JSON."""


class TryOnProduct(TypedDict):
    externalId: NotRequired[str]
    """Your id of the product. The server assigns ids that start with _anon_."""

    title: NotRequired[str]
    """Title of the product, used to recognise the garment category."""

    description: NotRequired[str]
    images: NotRequired[list[TryOnProductImage]]
    """Images in order. Required for a new product; replaces all images of an existing product."""

    validForDays: NotRequired[int | None]
    metadata: NotRequired[dict[str, Any]]
    """Stored and returned unchanged, including the order of members and numbers of any length. At most 64 KB as JSON."""


class TryOnPersonImageSource(TypedDict):
    """Exactly one of id, url and fileKey. Photos by url and fileKey are cropped to 4:5."""

    id: NotRequired[str]
    """The imageId of an upload (recommended)."""

    url: NotRequired[str]
    fileKey: NotRequired[str]
    """The name of a file field of the multipart body."""


class TryOnPersonImage(TypedDict):
    source: TryOnPersonImageSource
    """Exactly one of id, url and fileKey. Photos by url and fileKey are cropped to 4:5."""


class TryOnPerson(TypedDict):
    image: TryOnPersonImage


class TryOnConsent(TypedDict):
    """Consent of the person in the photo. Stored and returned with the generation."""

    policy: str
    """Domain of a shop of the account, or a policy that the operator published for the account."""

    version: str
    """Current version of the policy."""

    at: str
    """When the person agreed; not in the future."""


class TryOnOutputMaskImageSource(TypedDict):
    """Exactly one of id, url and fileKey. The image is not cropped."""

    id: NotRequired[str]
    """The imageId of an upload (recommended)."""

    url: NotRequired[str]
    fileKey: NotRequired[str]
    """The name of a file field of the multipart body."""


class TryOnOutputMaskImage(TypedDict):
    source: TryOnOutputMaskImageSource
    """Exactly one of id, url and fileKey. The image is not cropped."""


class TryOnOutputMask(TypedDict):
    """Region of the photo that may change: an image in the coordinates and the aspect ratio of the whole, uncropped photo, upright. Opaque pixels above half brightness are white. Deleted with the photo. Not for outfits."""

    image: TryOnOutputMaskImage
    keep: NotRequired[bool]
    """false: only the white region may change. true: the white region does not change. Default: false."""


class TryOnOutput(TypedDict):
    watermark: NotRequired[bool]
    """Whether to add the logo of the account, if it has one. Default: true."""

    keepForDays: NotRequired[Literal[1, 3, 7]]
    """Days until the images are deleted. Default: the retention of the account."""

    deadlineSeconds: NotRequired[int]
    """Deadline in seconds. An unfinished try-on then fails with GENERATION_TIMEOUT, and its credits are refunded. Default: 300; longer, up to 3600, if three times estimatedSeconds or the start of a worker take longer."""

    seed: NotRequired[int]
    """Default: 42."""

    count: NotRequired[int]
    """Number of images, each with a seed of its own and for the price of a try-on; at most maxCount of the engine. The generation lists them as results, best first; failed ones are refunded. Not for outfits. Default: 1."""

    mask: NotRequired[TryOnOutputMask]
    """Region of the photo that may change: an image in the coordinates and the aspect ratio of the whole, uncropped photo, upright. Opaque pixels above half brightness are white. Deleted with the photo. Not for outfits."""

    changedMask: NotRequired[bool]
    """Whether results have a changedMaskUrl: a PNG of their size that is black where they equal the photo, before logo, marks and encoding. Not for outfits. Default: false."""

    mode: NotRequired[Literal["fast", "balanced", "quality"]]
    """Default: "balanced"."""

    engine: NotRequired[str]
    """Name of an engine of GET /tryon/v1/engines. Default: the engine of the account, else of the installation. mock returns the photo and is free."""

    fallback: NotRequired[bool]
    """Whether a fallback engine of the account may replace the engine when the engine would start too late or is unavailable. Default: true."""

    format: NotRequired[Literal["jpeg", "png", "webp"]]
    """Default: "jpeg"."""

    fullResolution: NotRequired[bool]
    """Whether to paste the result back into the whole, uncropped photo. Default: false."""


class TryOn(TypedDict):
    products: list[TryOnProduct]
    person: TryOnPerson
    externalUserId: NotRequired[str]
    """Your opaque id of the end user, without personal data. Required for erasure."""

    consent: NotRequired[TryOnConsent]
    """Consent of the person in the photo. Stored and returned with the generation."""

    priority: NotRequired[Literal["interactive", "batch"]]
    """batch: for catalogue runs; starts after all interactive try-ons of the account, including those of shoppers. Send a long output.deadlineSeconds with batch. Default: "interactive"."""

    maxWaitSeconds: NotRequired[int]
    """Max seconds until a worker starts the try-on. When the estimate is longer, the call is refused with SERVICE_UNAVAILABLE before the charge."""

    output: NotRequired[TryOnOutput]


class AcceptedTryOnEstimatedStartRange(TypedDict):
    """While PENDING: range in seconds in which a worker starts the try-on in 9 of 10 cases."""

    min: int
    max: int


class AcceptedTryOn(TypedDict):
    generationId: str
    status: Literal["PENDING", "PROCESSING", "COMPLETED", "FAILED"]
    productExternalId: str
    """The id that was sent, or the id that the server assigned to a one-shot product, valid in later calls."""

    engineName: str
    """Name of the engine that renders the try-on."""

    requestedEngine: NotRequired[str]
    """Name of the requested or default engine when a fallback engine of the account replaces it; absent otherwise."""

    estimatedStartSeconds: NotRequired[int]
    """While PENDING: estimated seconds until a worker starts the try-on, including the start of a worker pool that was scaled to zero."""

    estimatedStartRange: NotRequired[AcceptedTryOnEstimatedStartRange]
    """While PENDING: range in seconds in which a worker starts the try-on in 9 of 10 cases."""

    estimatedSeconds: NotRequired[int]
    """While PENDING: estimated seconds until the try-on ends, at the pace of recent try-ons."""

    warnings: NotRequired[list[str]]
    """Codes of ignored fields: older fields sent in addition to the new ones, classifications with unknown values, and EXTERNAL_USER_ID_IGNORED for an externalUserId that is not at the top level of the body."""


class OutfitProduct(TypedDict):
    externalId: NotRequired[str]
    """Your id of the product. The server assigns ids that start with _anon_."""

    title: NotRequired[str]
    """Title of the product, used to recognise the garment category."""

    description: NotRequired[str]
    images: NotRequired[list[TryOnProductImage]]
    """Images in order. Required for a new product; replaces all images of an existing product."""

    validForDays: NotRequired[int | None]
    metadata: NotRequired[dict[str, Any]]
    """Stored and returned unchanged, including the order of members and numbers of any length. At most 64 KB as JSON."""

    layer: NotRequired[Literal["bottoms", "one-pieces", "tops", "outerwear"]]
    """Layer of the product. Default: its category, by the classifications or words of the product. Send outerwear for a shirt or cardigan that is worn open over a top."""


class Outfit(TypedDict):
    products: list[OutfitProduct]
    """Products in any order. Only outerwear may occur more than once; it is put on in the order of the list."""

    person: TryOnPerson
    externalUserId: NotRequired[str]
    """Your opaque id of the end user, without personal data. Required for erasure."""

    consent: NotRequired[TryOnConsent]
    """Consent of the person in the photo. Stored and returned with the generation."""

    priority: NotRequired[Literal["interactive", "batch"]]
    """batch: for catalogue runs; starts after all interactive try-ons of the account, including those of shoppers. Send a long output.deadlineSeconds with batch. Default: "interactive"."""

    maxWaitSeconds: NotRequired[int]
    """Max seconds until a worker starts the try-on. When the estimate is longer, the call is refused with SERVICE_UNAVAILABLE before the charge."""

    output: NotRequired[TryOnOutput]
    partial: NotRequired[Literal["refused", "allowed"]]
    """allowed: the image leaves out products that the engine refuses, if it can show at least one. refused: the outfit fails then. Default: "refused"."""


class AcceptedOutfitLayer(TypedDict):
    productExternalId: str
    """The id that was sent, or the id that the server assigned to a one-shot product, valid in later calls."""

    layer: Literal["bottoms", "one-pieces", "tops", "outerwear"]


class AcceptedOutfit(TypedDict):
    generationId: str
    status: Literal["PENDING", "PROCESSING", "COMPLETED", "FAILED"]
    engineName: str
    """Name of the engine that renders the try-on."""

    requestedEngine: NotRequired[str]
    """Name of the requested or default engine when a fallback engine of the account replaces it; absent otherwise."""

    estimatedStartSeconds: NotRequired[int]
    """While PENDING: estimated seconds until a worker starts the try-on, including the start of a worker pool that was scaled to zero."""

    estimatedStartRange: NotRequired[AcceptedTryOnEstimatedStartRange]
    """While PENDING: range in seconds in which a worker starts the try-on in 9 of 10 cases."""

    estimatedSeconds: NotRequired[int]
    """While PENDING: estimated seconds until the try-on ends, at the pace of recent try-ons."""

    warnings: NotRequired[list[str]]
    """Codes of ignored fields: older fields sent in addition to the new ones, classifications with unknown values, and EXTERNAL_USER_ID_IGNORED for an externalUserId that is not at the top level of the body."""

    layers: list[AcceptedOutfitLayer]
    """In the order of the call."""


class OutfitLayer(TypedDict):
    productExternalId: str
    layer: Literal["bottoms", "one-pieces", "tops", "outerwear"]
    """Layers are put on in the order bottoms, one-pieces, tops, outerwear."""

    applied: NotRequired[bool]
    """When COMPLETED: whether the image shows the product. False only with partial: allowed."""

    quality: NotRequired[float | None]
    warnings: NotRequired[list[str]]
    """As warnings of a generation."""

    errorCode: NotRequired[str]
    """Why the product was left out."""

    errorMessage: NotRequired[str]


class GenerationEngine(TypedDict):
    """The engine that rendered the image."""

    name: str
    version: str
    license: str
    """SPDX expression."""

    kind: str
    """Kind of its images: photo, preview or test."""


class GenerationErrorDetail(TypedDict):
    path: str
    message: str
    """The problem."""


class GenerationResult(TypedDict):
    seed: int
    """Seed of the image. As output.seed it draws the image again."""

    imageUrl: NotRequired[str]
    """As resultImageUrl; absent for a failed result, or when the image has expired."""

    changedMaskUrl: NotRequired[str]
    """With output.changedMask: URL of the mask of what the image changes, as imageUrl."""

    quality: NotRequired[float | None]
    errorCode: NotRequired[str]
    """Why the result failed; its credits are refunded."""

    errorMessage: NotRequired[str]


class Appeal(TypedDict):
    generationId: str
    state: Literal["OPEN", "ALLOWED", "REFUSED", "BLOCKED"]
    """OPEN: no operator has decided yet. ALLOWED: the next try-on of the account with the same two images passes the check that refused, once. REFUSED: the refusal is upheld. BLOCKED: the refusal is upheld, and the image is refused from now on."""

    reason: str
    byShopper: bool
    """Whether the shopper appealed, at `appealUrl` of the generation."""

    answer: str | None
    createdAt: str
    decidedAt: str | None


class UploadCrop(TypedDict):
    x: int
    y: int
    width: int
    height: int


class Upload(TypedDict):
    imageId: str
    """Value of person.image.source.id in a try-on."""

    imageUrl: str
    """URL of the photo as cropped for try-ons. It works for 15 minutes."""

    crop: NotRequired[UploadCrop | None]
    personDetected: NotRequired[bool]
    cropPending: NotRequired[Literal[True]]
    """Present if no worker has examined the photo within 15 s, or none runs: the URL then shows the whole photo. Try-ons crop it nevertheless, so no second upload is needed."""

    warnings: NotRequired[list[str]]
    """Reasons why a try-on with this photo may give a poor result."""


class ProductInput(TypedDict):
    externalId: str
    """Your id of the product. The server assigns ids that start with _anon_."""

    title: NotRequired[str]
    """Title of the product, used to recognise the garment category."""

    description: NotRequired[str]
    images: NotRequired[list[TryOnProductImage]]
    """Images in order. Required for a new product; replaces all images of an existing product."""

    validForDays: NotRequired[int | None]
    metadata: NotRequired[dict[str, Any]]
    """Stored and returned unchanged, including the order of members and numbers of any length. At most 64 KB as JSON."""


class ProductImageDetected(TypedDict):
    type: Literal["flat_lay", "ghost_mannequin", "on_model", "detail", "other"]
    view: Literal["front", "back", "side"] | None
    category: Literal["tops", "bottoms", "one-pieces", "outerwear", "other"]
    confidence: float


class ProductImage(TypedDict):
    sourceUrl: str
    """URL of the image; upload://… for an image sent as a file."""

    order: int
    """Index in the list that was sent."""

    classifications: dict[str, Any] | None
    detected: NotRequired[ProductImageDetected]


class Product(TypedDict):
    externalId: str
    title: str | None
    description: str | None
    images: list[ProductImage]
    """The classifications that were sent, and those that a try-on detected in the image."""

    metadata: Any
    """The object that was sent, or null."""

    validForDays: int | None
    lastUsedAt: str | None
    expiresAt: str | None
    createdAt: str
    updatedAt: str
    warnings: NotRequired[list[str]]
    """Codes of ignored classifications, in the answer to the call that sent them."""


class ProductList(TypedDict):
    items: list[Product]
    nextCursor: str | None
    hasMore: bool
    count: int
    """Items on this page."""


class ProductStatistics(TypedDict):
    totalGenerations: int
    completedGenerations: int
    failedGenerations: int
    avgGenerationTimeMs: int
    """Mean duration of completed generations in ms; 0 without any."""


class ProductBatchCounts(TypedDict):
    total: int
    created: int
    updated: int
    unchanged: int
    failed: int
    pending: int
    """Products without a result yet."""


class ProductBatchImages(TypedDict):
    total: int
    pending: int
    fetched: int
    failed: int
    replaced: int
    """Images not fetched because the product was changed or deleted meanwhile."""


class Listener(TypedDict):
    listenerId: str
    events: list[Literal["generation.completed", "generation.failed", "credits.low", "customer.erased", "erasure.confirmed", "review.decided"]]
    expiresAt: str
    """Expiry of the listener, 60 seconds after the last poll."""


class PolledEventsEventData(TypedDict):
    accountId: str


class PolledEventsEvent(TypedDict):
    deliveryId: int
    eventId: str
    """The webhook-id of the event."""

    type: str
    timestamp: str
    """Time of the event."""

    data: PolledEventsEventData


class PolledEvents(TypedDict):
    events: list[PolledEventsEvent]
    """At most 20, in order; empty after waitSeconds."""

    expiresAt: str


class QueuedEvent(TypedDict):
    eventId: str
    deliveries: int
    """Number of receivers of the event."""


class ProductBatchItemErrorDetail(TypedDict):
    path: str
    """Path of the field as sent; the form field of a file; empty for the body itself, or for the whole request."""

    message: str
    check: NotRequired[Literal["format", "clock", "body", "signature", "nonce"]]
    """PROXY_SIGNATURE_INVALID: the first check that failed. `signature` also covers unknown domains; the dashboard of the service shows which check failed."""

    serverTime: NotRequired[str]
    """PROXY_SIGNATURE_INVALID: current time of the server."""

    version: NotRequired[str]
    """CONSENT_OUTDATED: current version of the policy."""

    estimatedStartSeconds: NotRequired[int]
    """SERVICE_UNAVAILABLE with maxWaitSeconds: estimated seconds until the start."""

    estimatedSeconds: NotRequired[int]
    """SERVICE_UNAVAILABLE with maxWaitSeconds: estimated seconds until the end."""


class ProductBatchItemErrorDetails(TypedDict):
    """Details of MISSING_REQUIRED_CLASSIFICATION."""

    key: str
    """The missing classification."""


class ProductBatchItemError(TypedDict):
    code: str
    """As POST /products returns it."""

    message: str
    details: NotRequired[list[ProductBatchItemErrorDetail] | ProductBatchItemErrorDetails]


class ProductBatchItemImagesFailure(TypedDict):
    url: str
    code: str
    """For example PRODUCT_IMAGE_FETCH_FAILED or QUOTA_EXCEEDED."""


class ProductBatchItemImages(TypedDict):
    pending: int
    fetched: int
    failures: list[ProductBatchItemImagesFailure]


class ProductBatchItem(TypedDict):
    index: int
    """Position in the batch, from 0."""

    line: int
    """Line of the body where the product starts, from 1."""

    externalId: str | None
    result: Literal["created", "updated", "unchanged", "failed"]
    error: NotRequired[ProductBatchItemError]
    images: ProductBatchItemImages


class Account(TypedDict):
    id: str
    mode: Literal["live", "test"]
    """Mode of the key: test for keys sk_test_…, whose account has a separate id."""

    name: str
    email: NotRequired[str]
    creditBalance: int
    """Remaining credits."""

    isActive: bool
    retentionDays: int
    """Default retention of images in days: 1 to 90."""

    createdAt: str


class Credits(TypedDict):
    creditBalance: int
    """Remaining credits."""


class AnalyticsTotals(TypedDict):
    visitors: int
    """Visitors who opened a product page."""

    engaged: int
    """Visitors who used the widget."""

    generationStarted: int
    """Of engaged: visitors who started a try-on."""

    resultViewed: int
    """Of generationStarted: visitors who saw a result."""

    tryOnCarted: int
    """Of resultViewed: visitors who added a product to the cart afterwards."""

    carted: int
    """Of visitors: visitors who added a product to the cart, with or without a try-on."""

    orders: int
    """Orders."""

    tryOnOrders: int
    """Of orders: orders of visitors who saw a result in the 30 days before."""

    emailPrompted: int
    """Visitors who were asked for their e-mail address."""

    emailCollected: int
    """Visitors who left their e-mail address."""


class AnalyticsRates(TypedDict):
    cart: float | None
    cartAfterResult: float | None
    ordersAfterTryOn: float | None
    emailCollection: float | None


class AnalyticsDay(TypedDict):
    day: str
    """Day in UTC."""

    visitors: int
    """Visitors who opened a product page."""

    engaged: int
    """Visitors who used the widget."""

    generationStarted: int
    """Of engaged: visitors who started a try-on."""

    resultViewed: int
    """Of generationStarted: visitors who saw a result."""

    tryOnCarted: int
    """Of resultViewed: visitors who added a product to the cart afterwards."""

    carted: int
    """Of visitors: visitors who added a product to the cart, with or without a try-on."""

    orders: int
    """Orders."""

    tryOnOrders: int
    """Of orders: orders of visitors who saw a result in the 30 days before."""

    emailPrompted: int
    """Visitors who were asked for their e-mail address."""

    emailCollected: int
    """Visitors who left their e-mail address."""


class EngineDescription(TypedDict):
    name: str
    """Value of `output.engine`."""

    version: str | None
    kind: Literal["preview", "photo", "test"] | None
    license: str | None
    categories: list[Literal["tops", "bottoms", "one-pieces", "outerwear", "other"]]
    """Categories of garments that the engine accepts."""

    garmentTypes: list[Literal["flat_lay", "ghost_mannequin", "on_model", "detail", "other"]]
    """Classifications of product images that the engine accepts, by its Engine resource or its workers."""

    outfits: bool
    """Whether the engine renders outfits: POST /tryon/v1/outfits."""

    maxCount: int
    """Maximum of `output.count`."""

    modes: list[Literal["fast", "balanced", "quality"]]
    """Values of `output.mode`."""

    credits: int
    """Price of a result in credits."""

    isDefault: bool
    """Whether try-ons that name no engine use this engine."""

    state: Literal["ready", "scaling_from_zero", "unavailable"]
    """ready: live workers run the engine. scaling_from_zero: no worker is live; an accepted try-on waits until a worker starts. unavailable: no worker is live and none is expected; a try-on is refused with SERVICE_UNAVAILABLE."""

    expectedWaitSeconds: int | None


class EngineList(TypedDict):
    engines: list[EngineDescription]


StorefrontBatchEvent = TypedDict(
    "StorefrontBatchEvent",
    {
        "event": Literal["widget:button_click", "widget:image_upload", "widget:generation_start", "widget:result_view", "widget:share_clicked", "widget:download_clicked", "widget:add_to_cart_clicked", "widget:add_to_cart", "widget:email_collected", "product_page:page_view", "product_page:cart_add"],
        "properties": NotRequired[dict[str, Any]],
        "timestamp": str,
        "$insert_id": str,
    },
)


StorefrontBatchContext = TypedDict(
    "StorefrontBatchContext",
    {
        "anonymous_id": str,
        "session_id": str,
        "$pageview_id": str,
        "widget_version": str,
        "widget_enabled": bool,
        "product_id": str | None,
        "variant_id": str | None,
        "$screen_width": int,
        "$screen_height": int,
        "$timezone": str,
        "$current_url": NotRequired[str | None],
        "$pathname": NotRequired[str | None],
        "$host": NotRequired[str | None],
        "$viewport_width": NotRequired[int | None],
        "$viewport_height": NotRequired[int | None],
        "$raw_user_agent": NotRequired[str | None],
        "$browser_language": NotRequired[str | None],
        "integration": NotRequired[str],
    },
)


class StorefrontBatch(TypedDict):
    events: list[StorefrontBatchEvent]
    context: StorefrontBatchContext


class EventsAnswer(TypedDict):
    success: bool
    """Whether the whole batch was accepted."""

    message: NotRequired[str]
    """Problem of the first rejected event."""


class UploadForm(TypedDict):
    file: bytes
    """The photo: JPEG, PNG, WebP or HEIC, at most 10 MB."""

    crop: NotRequired[bool]
    """Whether the photo is cropped to 4:5 around the person; false keeps its framing. Default: true."""

    externalUserId: NotRequired[str]
    """Your opaque id of the end user, without personal data. Required for erasure."""

    keepForDays: NotRequired[Literal[1, 3, 7]]
    """Days until the images are deleted. Default: the retention of the account."""

    customerId: NotRequired[str]
    """Older externalUserId."""

    retentionDays: NotRequired[Literal[1, 3, 7]]
    """Older keepForDays."""


class ListProductsQuery(TypedDict):
    limit: NotRequired[int]
    """Maximum number of products per page. Pages are limited to about 2 MB."""

    cursor: NotRequired[str]
    """The nextCursor of the previous page."""


StatisticsQuery = TypedDict(
    "StatisticsQuery",
    {
        "from": NotRequired[str],
        "to": NotRequired[str],
    },
)


AnalyticsQuery = TypedDict(
    "AnalyticsQuery",
    {
        "shop": NotRequired[str],
        "from": NotRequired[str],
        "to": NotRequired[str],
    },
)


ErrorCode: TypeAlias = Literal["MISSING_API_KEY", "INVALID_API_KEY", "FORBIDDEN", "VALIDATION_FAILED", "EXTERNAL_ID_REQUIRED", "PRODUCT_IMAGES_REQUIRED", "CUSTOMER_IMAGE_REQUIRED", "FILE_REQUIRED", "MULTIPART_FILE_NOT_FOUND", "INVALID_IMAGE_INPUT", "INVALID_IMAGE", "UNSUPPORTED_IMAGE_TYPE", "CUSTOMER_IMAGE_FETCH_FAILED", "PRODUCT_IMAGE_FETCH_FAILED", "MISSING_REQUIRED_CLASSIFICATION", "FILE_TOO_LARGE", "INSUFFICIENT_CREDITS", "QUOTA_EXCEEDED", "RATE_LIMITED", "PRODUCT_NOT_FOUND", "GENERATION_NOT_FOUND", "ACCOUNT_NOT_FOUND", "BATCH_NOT_FOUND", "EVENT_NOT_FOUND", "ERASURE_NOT_FOUND", "LISTENER_NOT_FOUND", "APPEAL_NOT_FOUND", "ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED", "HEADERS_TOO_LARGE", "RESERVED_EXTERNAL_ID", "IDEMPOTENCY_KEY_IN_USE", "IDEMPOTENCY_KEY_REUSED", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE", "GENERATION_FAILED", "GENERATION_TIMEOUT", "GENERATION_CANCELLED", "NO_PERSON_DETECTED", "RESULT_REJECTED", "NUDITY_DETECTED", "EXPOSURE_NOT_ALLOWED", "SEVERAL_PEOPLE", "AGE_REVIEW", "IMAGE_LISTED", "SAFETY_UNAVAILABLE", "PROXY_SIGNATURE_INVALID", "WEBHOOK_SIGNATURE_INVALID", "BILLING_NOT_ALLOWED", "RATE_LIMIT_EXCEEDED", "GENERATION_NOT_COMPLETED", "SHARE_LINK_NOT_FOUND", "SHARE_LINK_GONE", "IMAGE_NOT_FOUND", "UPLOAD_NOT_FOUND", "CAPTCHA_REQUIRED", "VISITOR_TOKEN_REQUIRED", "CONSENT_REQUIRED", "CONSENT_OUTDATED", "CONSENT_POLICY_UNKNOWN"]
"""Stable code; branch on it."""


class ErrorDetail(TypedDict):
    path: str
    message: str


class GenerationCompletedMessageData(TypedDict):
    accountId: str
    generationId: str
    productExternalId: str
    shopId: NotRequired[str]
    """Shop whose shopper requested the generation."""

    status: Literal["COMPLETED"]
    test: NotRequired[Literal[True]]
    """True for test events. The objects that a test event names do not exist."""


class GenerationCompletedMessage(TypedDict):
    type: Literal["generation.completed"]
    timestamp: str
    """Time of the event."""

    data: GenerationCompletedMessageData


class GenerationFailedMessageData(TypedDict):
    accountId: str
    generationId: str
    productExternalId: str
    shopId: NotRequired[str]
    """Shop whose shopper requested the generation."""

    status: Literal["FAILED"]
    errorCode: NotRequired[str]
    errorDetails: NotRequired[list[GenerationErrorDetail]]
    """When FAILED: the images of the call that caused the failure, by their fields in the current format of the call. The index counts the images of the product, also when the call referred to a product of the catalog."""

    test: NotRequired[Literal[True]]
    """True for test events. The objects that a test event names do not exist."""


class GenerationFailedMessage(TypedDict):
    type: Literal["generation.failed"]
    timestamp: str
    """Time of the event."""

    data: GenerationFailedMessageData


class CreditsLowMessageData(TypedDict):
    accountId: str
    creditBalance: int
    creditsLowAt: int
    test: NotRequired[Literal[True]]
    """True for test events. The objects that a test event names do not exist."""


class CreditsLowMessage(TypedDict):
    type: Literal["credits.low"]
    timestamp: str
    """Time of the event."""

    data: CreditsLowMessageData


class CustomerErasedMessageData(TypedDict):
    accountId: str
    externalUserId: str
    erasureId: str
    test: NotRequired[Literal[True]]
    """True for test events. The objects that a test event names do not exist."""


class CustomerErasedMessage(TypedDict):
    type: Literal["customer.erased"]
    timestamp: str
    """Time of the event."""

    data: CustomerErasedMessageData


class ErasureConfirmedMessageData(TypedDict):
    accountId: str
    erasureId: str
    test: NotRequired[Literal[True]]
    """True for test events. The objects that a test event names do not exist."""


class ErasureConfirmedMessage(TypedDict):
    type: Literal["erasure.confirmed"]
    timestamp: str
    """Time of the event."""

    data: ErasureConfirmedMessageData


class ReviewDecidedMessageData(TypedDict):
    accountId: str
    generationId: str
    productExternalId: str
    shopId: NotRequired[str]
    """Shop whose shopper requested the generation."""

    state: Literal["ALLOWED", "REFUSED", "BLOCKED"]
    test: NotRequired[Literal[True]]
    """True for test events. The objects that a test event names do not exist."""


class ReviewDecidedMessage(TypedDict):
    type: Literal["review.decided"]
    timestamp: str
    """Time of the event."""

    data: ReviewDecidedMessageData


class WebhookTestMessageData(TypedDict):
    accountId: str
    endpointId: str
    test: NotRequired[Literal[True]]
    """True for test events. The objects that a test event names do not exist."""


class WebhookTestMessage(TypedDict):
    type: Literal["webhook.test"]
    timestamp: str
    """Time of the event."""

    data: WebhookTestMessageData


WebhookMessage: TypeAlias = GenerationCompletedMessage | GenerationFailedMessage | CreditsLowMessage | CustomerErasedMessage | ErasureConfirmedMessage | ReviewDecidedMessage | WebhookTestMessage


class Generation(TypedDict):
    generationId: str
    status: Literal["PENDING", "PROCESSING", "COMPLETED", "FAILED"]
    """COMPLETED and FAILED are final."""

    queuePosition: NotRequired[int]
    """While PENDING: position in the queue; 1 starts next."""

    estimatedStartSeconds: NotRequired[int]
    """While PENDING: estimated seconds until a worker starts the try-on, including the start of a worker pool that was scaled to zero."""

    estimatedStartRange: NotRequired[AcceptedTryOnEstimatedStartRange]
    """While PENDING: range in seconds in which a worker starts the try-on in 9 of 10 cases."""

    estimatedSeconds: NotRequired[int]
    """While PENDING: estimated seconds until the try-on ends, at the pace of recent try-ons."""

    progress: NotRequired[float]
    """While PROCESSING: share of the work that is done."""

    resultImageUrl: NotRequired[str]
    """When COMPLETED, until the image expires or is erased: URL of the image. It works for 1 hour; fetch the generation again for a new URL."""

    imagesExpired: NotRequired[bool]
    """True when the image has expired or was erased; resultImageUrl is absent then."""

    results: NotRequired[list[GenerationResult]]
    """When COMPLETED with output.count above 1 or output.changedMask: a result for each seed, best first, then the failed ones. The first is that of resultImageUrl."""

    engineName: str
    """Name of the engine that renders the try-on."""

    requestedEngine: NotRequired[str]
    """Name of the requested or default engine when a fallback engine of the account replaces it; absent otherwise."""

    consent: NotRequired[TryOnConsent]
    """Consent of the person in the photo. Stored and returned with the generation."""

    engine: NotRequired[GenerationEngine]
    """The engine that rendered the image."""

    category: NotRequired[str | None]
    quality: NotRequired[float | None]
    layers: NotRequired[list[OutfitLayer]]
    """The products of an outfit, in the order of the call."""

    timings: NotRequired[dict[str, float]]
    """When COMPLETED: duration of each stage in ms."""

    warnings: NotRequired[list[str]]
    """When COMPLETED: warnings about the result (upper case) and about the photo (lower case)."""

    ingredientSalt: NotRequired[str]
    """When COMPLETED: the secret salt of the photo's and the product image's hashes in the result's Content Credentials. It proves that the result was made from an image; keep it secret."""

    errorMessage: NotRequired[str]
    """When FAILED: human-readable reason."""

    errorCode: NotRequired[str]
    """When FAILED: stable error code; branch on it."""

    errorDetails: NotRequired[list[GenerationErrorDetail]]
    """When FAILED: the images of the call that caused the failure, by their fields in the current format of the call. The index counts the images of the product, also when the call referred to a product of the catalog."""

    appealUrl: NotRequired[str]
    """When FAILED because a safety check refused an image: page on which the person in the photo can ask for a review. Anyone with the URL can."""

    createdAt: str
    updatedAt: str
    """Time of the last status change; strictly increasing. Progress does not change it."""


class ProductBatch(TypedDict):
    batchId: str
    status: Literal["processing", "fetching", "completed"]
    """processing: products are being stored, or the request was interrupted (send it again with the same Idempotency-Key). fetching: all products are stored, images are being fetched."""

    createdAt: str
    counts: ProductBatchCounts
    images: ProductBatchImages
    items: list[ProductBatchItem]
    """Products that have a result, in the order of the batch."""

    nextCursor: str | None
    hasMore: bool


Analytics = TypedDict(
    "Analytics",
    {
        "timeZone": Literal["UTC"],
        "shop": str | None,
        "from": str,
        "to": str,
        "totals": AnalyticsTotals,
        "rates": AnalyticsRates,
        "days": list[AnalyticsDay],
    },
)
