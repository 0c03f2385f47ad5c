# Written by scripts/client python-models from the OpenAPI document; changes by hand are lost.

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict

from typing_extensions import NotRequired


class TryOnProductImageSource(TypedDict):
    """
    Exactly one of url and fileKey.
    """

    url: NotRequired[str]
    """
    An http or https address, or the sourceUrl (upload://…) of a stored image of the account.
    """

    fileKey: NotRequired[str]
    """
    The name of a file field of the multipart body.
    """


class TryOnProductImage(TypedDict):
    source: TryOnProductImageSource
    """
    Exactly one of url and fileKey.
    """

    classifications: NotRequired[dict[str, Any]]
    """
    What the image shows. Known are type (flat_lay, ghost_mannequin, on_model, detail, other), view (front, back, side) and category (tops, bottoms, one-pieces, outerwear, other); on_model: true is the same as type: on_model. Other keys are stored and returned. At most 4 KB as JSON.
    """


class TryOnProduct(TypedDict):
    externalId: NotRequired[str]
    """
    Your id of the product. Ids that start with _anon_ are given by the server.
    """

    title: NotRequired[str]
    """
    Helps to recognise the kind of garment.
    """

    description: NotRequired[str]
    images: NotRequired[list[TryOnProductImage]]
    """
    Needed for a new product; replaces all images of a known one. The order is kept.
    """

    validForDays: NotRequired[int | None]
    metadata: NotRequired[dict[str, Any]]
    """
    Stored and returned as sent: the order of members is kept, and numbers of any length. At most 64 KB as JSON.
    """


class TryOnPersonImageSource(TypedDict):
    """
    Exactly one of id, url and fileKey. Photos by url and fileKey are cropped to 4:5.
    """

    id: NotRequired[str]
    """
    The imageId of an upload; the way we recommend.
    """

    url: NotRequired[str]
    fileKey: NotRequired[str]
    """
    The name of a file field of the multipart body.
    """


class TryOnPersonImage(TypedDict):
    source: TryOnPersonImageSource
    """
    Exactly one of id, url and fileKey. Photos by url and fileKey are cropped to 4:5.
    """


class TryOnPerson(TypedDict):
    image: TryOnPersonImage


class TryOnConsent(TypedDict):
    """
    What the person of the photo agreed to. Stored and returned with the generation.
    """

    policy: str
    """
    Domain of a shop of the account, or a policy that the operator published for the account.
    """

    version: str
    """
    The version that counts now.
    """

    at: str
    """
    When the person agreed; not in the future.
    """


class TryOnOutput(TypedDict):
    watermark: NotRequired[bool]
    """
    Whether the logo of the account, if it has one, is put on. Default: true.
    """

    keepForDays: NotRequired[Literal[1, 3, 7]]
    """
    Days until the images are deleted; the default is the window of the account.
    """

    deadlineSeconds: NotRequired[int]
    """
    What is not finished by then fails with GENERATION_TIMEOUT, and its credit comes back. Default: 300.
    """

    seed: NotRequired[int]
    """
    Default: 42.
    """

    mode: NotRequired[Literal["fast", "balanced", "quality"]]
    """
    Default: "balanced".
    """

    engine: NotRequired[str]
    """
    Name of an engine of GET /tryon/v1/engines. The default is that of the account, else of the installation. mock gives the photo back and costs nothing.
    """

    fallback: NotRequired[bool]
    """
    Whether a fallback engine of the account may stand in when the engine would start too late or cannot be served. Default: true.
    """

    format: NotRequired[Literal["jpeg", "png", "webp"]]
    """
    Default: "jpeg".
    """

    fullResolution: NotRequired[bool]
    """
    Whether the result is put back into the whole photo, uncropped. Default: false.
    """


class TryOn(TypedDict):
    products: list[TryOnProduct]
    person: TryOnPerson
    externalUserId: NotRequired[str]
    """
    Your opaque id of the end user, without personal data; makes erasure possible.
    """

    consent: NotRequired[TryOnConsent]
    """
    What the person of the photo agreed to. Stored and returned with the generation.
    """

    priority: NotRequired[Literal["interactive", "batch"]]
    """
    batch: for catalogue runs; starts after the interactive try-ons of the account, those of shoppers included. Give batch a long output.deadlineSeconds. Default: "interactive".
    """

    maxWaitSeconds: NotRequired[int]
    """
    Max seconds until a worker starts the try-on. When the estimate is longer, the call is refused with SERVICE_UNAVAILABLE before the charge.
    """

    output: NotRequired[TryOnOutput]


class AcceptedTryOnEstimatedStartRange(TypedDict):
    """
    While PENDING: seconds between which a worker starts it in 9 of 10 cases.
    """

    min: int
    max: int


class AcceptedTryOn(TypedDict):
    generationId: str
    status: Literal["PENDING", "PROCESSING", "COMPLETED", "FAILED"]
    productExternalId: str
    """
    The id that was sent; of a one-shot product the one that the server gave, good for later calls.
    """

    engineName: str
    """
    Name of the engine that renders the try-on.
    """

    requestedEngine: NotRequired[str]
    """
    Name of the requested or default engine when a fallback engine of the account stands in for it; absent otherwise.
    """

    estimatedStartSeconds: NotRequired[int]
    """
    While PENDING: estimated seconds until a worker starts it, the start of a worker pool at zero included.
    """

    estimatedStartRange: NotRequired[AcceptedTryOnEstimatedStartRange]
    """
    While PENDING: seconds between which a worker starts it in 9 of 10 cases.
    """

    estimatedSeconds: NotRequired[int]
    """
    While PENDING: estimated seconds until it is finished, at the pace of recent ones.
    """

    warnings: NotRequired[list[str]]
    """
    Codes of ignored fields: older fields beside the new ones, and EXTERNAL_USER_ID_IGNORED for an externalUserId that is not at the top of the body.
    """


class GenerationEstimatedStartRange(TypedDict):
    """
    While PENDING: seconds between which a worker starts it in 9 of 10 cases.
    """

    min: int
    max: int


class GenerationConsent(TypedDict):
    """
    What the person of the photo agreed to. Stored and returned with the generation.
    """

    policy: str
    """
    Domain of a shop of the account, or a policy that the operator published for the account.
    """

    version: str
    """
    The version that counts now.
    """

    at: str
    """
    When the person agreed; not in the future.
    """


class GenerationEngine(TypedDict):
    """
    The engine that made the picture.
    """

    name: str
    version: str
    license: str
    """
    SPDX expression.
    """

    kind: str
    """
    What its pictures are good for: photo, preview or test.
    """


class GenerationErrorDetail(TypedDict):
    path: str
    message: str
    """
    What is wrong.
    """


class Generation(TypedDict):
    generationId: str
    status: Literal["PENDING", "PROCESSING", "COMPLETED", "FAILED"]
    """
    COMPLETED and FAILED are final.
    """

    queuePosition: NotRequired[int]
    """
    While PENDING: the place in the line; 1 is started next.
    """

    estimatedStartSeconds: NotRequired[int]
    """
    While PENDING: estimated seconds until a worker starts it, the start of a worker pool at zero included.
    """

    estimatedStartRange: NotRequired[GenerationEstimatedStartRange]
    """
    While PENDING: seconds between which a worker starts it in 9 of 10 cases.
    """

    estimatedSeconds: NotRequired[int]
    """
    While PENDING: estimated seconds until it is finished, at the pace of recent ones.
    """

    progress: NotRequired[float]
    """
    While PROCESSING: the share done.
    """

    resultImageUrl: NotRequired[str | None]
    imagesExpired: NotRequired[bool]
    """
    True when the picture was deleted at the end of its time; resultImageUrl is null then.
    """

    engineName: str
    """
    Name of the engine that renders the try-on.
    """

    requestedEngine: NotRequired[str]
    """
    Name of the requested or default engine when a fallback engine of the account stands in for it; absent otherwise.
    """

    consent: NotRequired[GenerationConsent]
    """
    What the person of the photo agreed to. Stored and returned with the generation.
    """

    engine: NotRequired[GenerationEngine]
    """
    The engine that made the picture.
    """

    category: NotRequired[str | None]
    quality: NotRequired[float | None]
    timings: NotRequired[dict[str, float]]
    """
    When COMPLETED: ms that each stage took.
    """

    warnings: NotRequired[list[str]]
    """
    When COMPLETED: what the picture lacks of what was asked (upper case), and what spoke against the photo (lower case).
    """

    ingredientSalt: NotRequired[str]
    """
    When COMPLETED: the secret with which the result's Content Credentials name the photo and the product image. It proves that the result was made from an image; keep it secret.
    """

    errorMessage: NotRequired[str]
    """
    When FAILED: what happened, for people.
    """

    errorCode: NotRequired[str]
    """
    When FAILED: a stable code to act on.
    """

    errorDetails: NotRequired[list[GenerationErrorDetail]]
    """
    When FAILED: the images of the call that are at fault, by their fields in the current shape of the call. The index is that of the images of the product, also when the call named a product of the catalog.
    """

    createdAt: str
    updatedAt: str
    """
    Time of the last change of status; strictly grows. Progress does not change it.
    """


class UploadCrop(TypedDict):
    x: int
    y: int
    width: int
    height: int


class Upload(TypedDict):
    imageId: str
    """
    Goes to person.image.source.id of a try-on.
    """

    imageUrl: str
    """
    Preview of what a try-on will see; works for 15 minutes.
    """

    crop: NotRequired[UploadCrop | None]
    personDetected: NotRequired[bool]
    warnings: NotRequired[list[str]]
    """
    Why a try-on of this photo may not go well.
    """


class ProductInputImageSource(TypedDict):
    """
    Exactly one of url and fileKey.
    """

    url: NotRequired[str]
    """
    An http or https address, or the sourceUrl (upload://…) of a stored image of the account.
    """

    fileKey: NotRequired[str]
    """
    The name of a file field of the multipart body.
    """


class ProductInputImage(TypedDict):
    source: ProductInputImageSource
    """
    Exactly one of url and fileKey.
    """

    classifications: NotRequired[dict[str, Any]]
    """
    What the image shows. Known are type (flat_lay, ghost_mannequin, on_model, detail, other), view (front, back, side) and category (tops, bottoms, one-pieces, outerwear, other); on_model: true is the same as type: on_model. Other keys are stored and returned. At most 4 KB as JSON.
    """


class ProductInput(TypedDict):
    externalId: str
    """
    Your id of the product. Ids that start with _anon_ are given by the server.
    """

    title: NotRequired[str]
    """
    Helps to recognise the kind of garment.
    """

    description: NotRequired[str]
    images: NotRequired[list[ProductInputImage]]
    """
    Needed for a new product; replaces all images of a known one. The order is kept.
    """

    validForDays: NotRequired[int | None]
    metadata: NotRequired[dict[str, Any]]
    """
    Stored and returned as sent: the order of members is kept, and numbers of any length. At most 64 KB as JSON.
    """


class ProductImageDetected(TypedDict):
    type: Literal["flat_lay", "ghost_mannequin", "on_model", "detail", "other"]
    view: Literal["front", "back", "side"] | None
    category: Literal["tops", "bottoms", "one-pieces", "outerwear", "other"]
    confidence: float


class ProductImage(TypedDict):
    sourceUrl: str
    """
    Where the image came from; upload://… names bytes that were sent.
    """

    order: int
    """
    The place in the list that was sent.
    """

    classifications: dict[str, Any] | None
    detected: NotRequired[ProductImageDetected]


class Product(TypedDict):
    externalId: str
    title: str | None
    description: str | None
    images: list[ProductImage]
    """
    What was sent, and once a try-on has used the image also what was recognised in it.
    """

    metadata: Any
    """
    The object that was sent, or null.
    """

    validForDays: int | None
    lastUsedAt: str | None
    expiresAt: str | None
    createdAt: str
    updatedAt: str


class ProductList(TypedDict):
    items: list[Product]
    nextCursor: str | None
    hasMore: bool
    count: int
    """
    Items on this page.
    """


class ProductStatistics(TypedDict):
    totalGenerations: int
    completedGenerations: int
    failedGenerations: int
    avgGenerationTimeMs: int
    """
    Mean of completed generations, 0 without any.
    """


class ProductBatchCounts(TypedDict):
    total: int
    created: int
    updated: int
    unchanged: int
    failed: int
    pending: int
    """
    Products without a result yet.
    """


class ProductBatchImages(TypedDict):
    total: int
    pending: int
    fetched: int
    failed: int
    replaced: int
    """
    Not fetched: the product was changed or deleted meanwhile.
    """


class Listener(TypedDict):
    listenerId: str
    events: list[Literal["generation.completed", "generation.failed", "credits.low", "customer.erased"]]
    expiresAt: str
    """
    60 seconds after the last poll.
    """


class PolledEventsEventData(TypedDict):
    accountId: str


class PolledEventsEvent(TypedDict):
    deliveryId: int
    eventId: str
    """
    The webhook-id of the event.
    """

    type: str
    timestamp: str
    """
    When it happened.
    """

    data: PolledEventsEventData


class PolledEvents(TypedDict):
    events: list[PolledEventsEvent]
    """
    At most 20, in their order; none after waitSeconds.
    """

    expiresAt: str


class QueuedEvent(TypedDict):
    eventId: str
    deliveries: int
    """
    How many receivers get the event.
    """


class ProductBatchItemErrorDetail(TypedDict):
    path: str
    """
    The field as you wrote it; the field of the form for a file, and empty for the body itself.
    """

    message: str


class ProductBatchItemErrorDetails(TypedDict):
    key: str
    """
    The classification that is missing.
    """


class ProductBatchItemErrorDetails1(TypedDict):
    """
    Of PROXY_SIGNATURE_INVALID.
    """

    check: Literal["format", "clock", "body", "signature", "nonce"]
    """
    The first check that failed. `signature` also covers unknown domains; the dashboard of the service shows which check failed.
    """

    serverTime: str
    """
    The clock of the server.
    """


class ProductBatchItemErrorDetails2(TypedDict):
    """
    Of CONSENT_OUTDATED.
    """

    version: str
    """
    The version that counts now.
    """


class ProductBatchItemErrorDetails3(TypedDict):
    """
    Estimated seconds until the start and until the end of a try-on with maxWaitSeconds.
    """

    estimatedStartSeconds: int
    estimatedSeconds: int


class ProductBatchItemError(TypedDict):
    code: str
    """
    As POST /products returns it.
    """

    message: str
    details: NotRequired[list[ProductBatchItemErrorDetail] | ProductBatchItemErrorDetails | ProductBatchItemErrorDetails1 | ProductBatchItemErrorDetails2 | ProductBatchItemErrorDetails3]


class ProductBatchItemImagesFailure(TypedDict):
    url: str
    code: str
    """
    For example PRODUCT_IMAGE_FETCH_FAILED or QUOTA_EXCEEDED.
    """


class ProductBatchItemImages(TypedDict):
    pending: int
    fetched: int
    failures: list[ProductBatchItemImagesFailure]


class ProductBatchItem(TypedDict):
    index: int
    """
    Position in the batch, from 0.
    """

    line: int
    """
    Line of the body where the product starts, from 1.
    """

    externalId: str | None
    result: Literal["created", "updated", "unchanged", "failed"]
    error: NotRequired[ProductBatchItemError]
    images: ProductBatchItemImages


class Account(TypedDict):
    id: str
    mode: Literal["live", "test"]
    """
    Of the key: test for keys sk_test_…, whose account has an id of its own.
    """

    name: str
    email: NotRequired[str]
    creditBalance: int
    """
    Generations that can still be asked for.
    """

    isActive: bool
    retentionDays: int
    """
    Days that images are kept when a call names none: 1 to 90.
    """

    createdAt: str


class Credits(TypedDict):
    creditBalance: int
    """
    Generations that can still be asked for.
    """


class EngineDescription(TypedDict):
    name: str
    """
    Value of `output.engine`.
    """

    version: str | None
    kind: Literal["preview", "photo", "test"] | None
    license: str | None
    categories: list[Literal["tops", "bottoms", "one-pieces", "outerwear", "other"]]
    """
    Categories of garments that the engine accepts.
    """

    garmentTypes: list[Literal["flat_lay", "ghost_mannequin", "on_model", "detail", "other"]]
    """
    Classifications of product images that the engine accepts, by its Engine resource or its workers.
    """

    modes: list[Literal["fast", "balanced", "quality"]]
    """
    Values of `output.mode`.
    """

    credits: int
    """
    Price of a try-on in credits.
    """

    isDefault: bool
    """
    Whether try-ons that name no engine use this engine.
    """

    state: Literal["ready", "scaling_from_zero", "unavailable"]
    """
    ready: live workers run the engine. scaling_from_zero: no worker is live; an accepted try-on waits until a worker starts. unavailable: no worker is live and none is expected; a try-on is refused with SERVICE_UNAVAILABLE.
    """

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
    """
    Whether all of the batch was taken.
    """

    message: NotRequired[str]
    """
    Problem of the first rejected event.
    """


class UploadForm(TypedDict):
    file: bytes
    """
    The photo: JPEG, PNG, WebP or HEIC, at most 10 MB.
    """

    crop: NotRequired[bool]
    """
    Whether the photo is cropped to 4:5 around the person; false keeps its framing. Default: true.
    """

    externalUserId: NotRequired[str]
    """
    Your opaque id of the end user, without personal data; makes erasure possible.
    """

    keepForDays: NotRequired[Literal[1, 3, 7]]
    """
    Days until the images are deleted; the default is the window of the account.
    """

    customerId: NotRequired[str]
    """
    Older externalUserId.
    """

    retentionDays: NotRequired[Literal[1, 3, 7]]
    """
    Older keepForDays.
    """


class ListProductsQuery(TypedDict):
    limit: NotRequired[int]
    """
    Products of a page. A page of more than 2 MB has fewer.
    """

    cursor: NotRequired[str]
    """
    The nextCursor of the page before.
    """


StatisticsQuery = TypedDict(
    "StatisticsQuery",
    {
        "from": NotRequired[str],
        "to": NotRequired[str],
    },
)


ErrorCode: TypeAlias = Literal["MISSING_API_KEY", "INVALID_API_KEY", "FORBIDDEN", "VALIDATION_FAILED", "EXTERNAL_ID_REQUIRED", "PRODUCT_IMAGES_REQUIRED", "CUSTOMER_IMAGE_REQUIRED", "FILE_REQUIRED", "MULTIPART_FILE_NOT_FOUND", "INVALID_IMAGE_INPUT", "INVALID_IMAGE", "UNSUPPORTED_IMAGE_TYPE", "CUSTOMER_IMAGE_FETCH_FAILED", "PRODUCT_IMAGE_FETCH_FAILED", "MISSING_REQUIRED_CLASSIFICATION", "FILE_TOO_LARGE", "INSUFFICIENT_CREDITS", "QUOTA_EXCEEDED", "RATE_LIMITED", "PRODUCT_NOT_FOUND", "GENERATION_NOT_FOUND", "ACCOUNT_NOT_FOUND", "BATCH_NOT_FOUND", "EVENT_NOT_FOUND", "LISTENER_NOT_FOUND", "ROUTE_NOT_FOUND", "METHOD_NOT_ALLOWED", "HEADERS_TOO_LARGE", "RESERVED_EXTERNAL_ID", "IDEMPOTENCY_KEY_IN_USE", "IDEMPOTENCY_KEY_REUSED", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE", "GENERATION_FAILED", "GENERATION_TIMEOUT", "GENERATION_CANCELLED", "NO_PERSON_DETECTED", "RESULT_REJECTED", "PROXY_SIGNATURE_INVALID", "WEBHOOK_SIGNATURE_INVALID", "BILLING_NOT_ALLOWED", "RATE_LIMIT_EXCEEDED", "GENERATION_NOT_COMPLETED", "SHARE_LINK_NOT_FOUND", "SHARE_LINK_GONE", "IMAGE_NOT_FOUND", "UPLOAD_NOT_FOUND", "CAPTCHA_REQUIRED", "VISITOR_TOKEN_REQUIRED", "CONSENT_REQUIRED", "CONSENT_OUTDATED", "CONSENT_POLICY_UNKNOWN"]
"""
Stable; branch on this.
"""


class ErrorDetail(TypedDict):
    path: str
    message: str


class GenerationCompletedMessageData(TypedDict):
    accountId: str
    generationId: str
    productExternalId: str
    shopId: NotRequired[str]
    """
    Given when a shopper of this shop asked for it.
    """

    status: Literal["COMPLETED"]
    test: NotRequired[Literal[True]]
    """
    Given in test events; what they name does not exist.
    """


class GenerationCompletedMessage(TypedDict):
    type: Literal["generation.completed"]
    timestamp: str
    """
    When it happened.
    """

    data: GenerationCompletedMessageData


class GenerationFailedMessageDataErrorDetail(TypedDict):
    path: str
    message: str
    """
    What is wrong.
    """


class GenerationFailedMessageData(TypedDict):
    accountId: str
    generationId: str
    productExternalId: str
    shopId: NotRequired[str]
    """
    Given when a shopper of this shop asked for it.
    """

    status: Literal["FAILED"]
    errorCode: NotRequired[str]
    errorDetails: NotRequired[list[GenerationFailedMessageDataErrorDetail]]
    """
    When FAILED: the images of the call that are at fault, by their fields in the current shape of the call. The index is that of the images of the product, also when the call named a product of the catalog.
    """

    test: NotRequired[Literal[True]]
    """
    Given in test events; what they name does not exist.
    """


class GenerationFailedMessage(TypedDict):
    type: Literal["generation.failed"]
    timestamp: str
    """
    When it happened.
    """

    data: GenerationFailedMessageData


class CreditsLowMessageData(TypedDict):
    accountId: str
    creditBalance: int
    creditsLowAt: int
    test: NotRequired[Literal[True]]
    """
    Given in test events; what they name does not exist.
    """


class CreditsLowMessage(TypedDict):
    type: Literal["credits.low"]
    timestamp: str
    """
    When it happened.
    """

    data: CreditsLowMessageData


class CustomerErasedMessageData(TypedDict):
    accountId: str
    externalUserId: str
    test: NotRequired[Literal[True]]
    """
    Given in test events; what they name does not exist.
    """


class CustomerErasedMessage(TypedDict):
    type: Literal["customer.erased"]
    timestamp: str
    """
    When it happened.
    """

    data: CustomerErasedMessageData


class WebhookTestMessageData(TypedDict):
    accountId: str
    endpointId: str
    test: NotRequired[Literal[True]]
    """
    Given in test events; what they name does not exist.
    """


class WebhookTestMessage(TypedDict):
    type: Literal["webhook.test"]
    timestamp: str
    """
    When it happened.
    """

    data: WebhookTestMessageData


WebhookMessage: TypeAlias = GenerationCompletedMessage | GenerationFailedMessage | CreditsLowMessage | CustomerErasedMessage | WebhookTestMessage


class ProductBatch(TypedDict):
    batchId: str
    status: Literal["processing", "fetching", "completed"]
    """
    processing: products are being stored, or the request broke off: send it again with its Idempotency-Key. fetching: all products are stored, images are being fetched.
    """

    createdAt: str
    counts: ProductBatchCounts
    images: ProductBatchImages
    items: list[ProductBatchItem]
    """
    Products that have a result, in the order of the batch.
    """

    nextCursor: str | None
    hasMore: bool
