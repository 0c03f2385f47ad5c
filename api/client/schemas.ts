// Written by scripts/client types from the OpenAPI document; changes by hand are lost.

export type WebhookMessage =
  | {
      type: 'generation.completed'
      /**
       * Time of the event.
       */
      timestamp: string
      data: {
        accountId: string
        generationId: string
        productExternalId: string
        /**
         * Shop whose shopper requested the generation.
         */
        shopId?: string
        status: 'COMPLETED'
        /**
         * True for test events. The objects that a test event names do not exist.
         */
        test?: true
      }
    }
  | {
      type: 'generation.failed'
      /**
       * Time of the event.
       */
      timestamp: string
      data: {
        accountId: string
        generationId: string
        productExternalId: string
        /**
         * Shop whose shopper requested the generation.
         */
        shopId?: string
        status: 'FAILED'
        errorCode?: string
        /**
         * When FAILED: the images of the call that caused the failure, by their fields in the current format of the call. The index counts the images of the product, also when the call referred to a product of the catalog.
         */
        errorDetails?: {
          path: string
          /**
           * The problem.
           */
          message: string
        }[]
        /**
         * True for test events. The objects that a test event names do not exist.
         */
        test?: true
      }
    }
  | {
      type: 'credits.low'
      /**
       * Time of the event.
       */
      timestamp: string
      data: {
        accountId: string
        creditBalance: number
        creditsLowAt: number
        /**
         * True for test events. The objects that a test event names do not exist.
         */
        test?: true
      }
    }
  | {
      type: 'customer.erased'
      /**
       * Time of the event.
       */
      timestamp: string
      data: {
        accountId: string
        externalUserId: string
        erasureId: string
        /**
         * True for test events. The objects that a test event names do not exist.
         */
        test?: true
      }
    }
  | {
      type: 'erasure.confirmed'
      /**
       * Time of the event.
       */
      timestamp: string
      data: {
        accountId: string
        erasureId: string
        /**
         * True for test events. The objects that a test event names do not exist.
         */
        test?: true
      }
    }
  | {
      type: 'review.decided'
      /**
       * Time of the event.
       */
      timestamp: string
      data: {
        accountId: string
        generationId: string
        productExternalId: string
        /**
         * Shop whose shopper requested the generation.
         */
        shopId?: string
        state: 'ALLOWED' | 'REFUSED' | 'BLOCKED'
        /**
         * True for test events. The objects that a test event names do not exist.
         */
        test?: true
      }
    }
  | {
      type: 'webhook.test'
      /**
       * Time of the event.
       */
      timestamp: string
      data: {
        accountId: string
        endpointId: string
        /**
         * True for test events. The objects that a test event names do not exist.
         */
        test?: true
      }
    }

export interface TryOn {
  /**
   * @minItems 1
   * @maxItems 1
   */
  products: {
    /**
     * Your id of the product. The server assigns ids that start with _anon_.
     */
    externalId?: string
    /**
     * Title of the product, used to recognise the garment category.
     */
    title?: string
    description?: string
    /**
     * Images in order. Required for a new product; replaces all images of an existing product.
     *
     * @minItems 1
     * @maxItems 50
     */
    images?: {
      /**
       * Exactly one of url and fileKey.
       */
      source: {
        /**
         * An http or https address, or the sourceUrl (upload://…) of a stored image of the account.
         */
        url?: string
        /**
         * The name of a file field of the multipart body.
         */
        fileKey?: string
      }
      /**
       * Classifications of the image. Known keys: type (flat_lay, ghost_mannequin, on_model, detail, other), view (front, back, side) and category (tops, bottoms, one-pieces, outerwear, other), in any letter case; an unknown value is ignored, with a warning. on_model: true is the same as type: on_model. Other keys are stored and returned. At most 4 KB as JSON.
       */
      classifications?: {
        [k: string]: unknown
      }
    }[]
    validForDays?: number | null
    /**
     * Stored and returned unchanged, including the order of members and numbers of any length. At most 64 KB as JSON.
     */
    metadata?: {
      [k: string]: unknown
    }
  }[]
  person: {
    image: {
      /**
       * Exactly one of id, url and fileKey. Photos by url and fileKey are cropped to 4:5.
       */
      source: {
        /**
         * The imageId of an upload (recommended).
         */
        id?: string
        url?: string
        /**
         * The name of a file field of the multipart body.
         */
        fileKey?: string
      }
    }
  }
  /**
   * Your opaque id of the end user, without personal data. Required for erasure.
   */
  externalUserId?: string
  /**
   * Consent of the person in the photo. Stored and returned with the generation.
   */
  consent?: {
    /**
     * Domain of a shop of the account, or a policy that the operator published for the account.
     */
    policy: string
    /**
     * Current version of the policy.
     */
    version: string
    /**
     * When the person agreed; not in the future.
     */
    at: string
  }
  /**
   * batch: for catalogue runs; starts after all interactive try-ons of the account, including those of shoppers. Send a long output.deadlineSeconds with batch. Default: "interactive".
   */
  priority?: 'interactive' | 'batch'
  /**
   * Max seconds until a worker starts the try-on. When the estimate is longer, the call is refused with SERVICE_UNAVAILABLE before the charge.
   */
  maxWaitSeconds?: number
  output?: {
    /**
     * Whether to add the logo of the account, if it has one. Default: true.
     */
    watermark?: boolean
    /**
     * Days until the images are deleted. Default: the retention of the account.
     */
    keepForDays?: 1 | 3 | 7
    /**
     * Deadline in seconds. An unfinished try-on then fails with GENERATION_TIMEOUT, and its credits are refunded. Default: 300; longer, up to 3600, if three times estimatedSeconds or the start of a worker take longer.
     */
    deadlineSeconds?: number
    /**
     * Default: 42.
     */
    seed?: number
    /**
     * Default: "balanced".
     */
    mode?: 'fast' | 'balanced' | 'quality'
    /**
     * Name of an engine of GET /tryon/v1/engines. Default: the engine of the account, else of the installation. mock returns the photo and is free.
     */
    engine?: string
    /**
     * Whether a fallback engine of the account may replace the engine when the engine would start too late or is unavailable. Default: true.
     */
    fallback?: boolean
    /**
     * Default: "jpeg".
     */
    format?: 'jpeg' | 'png' | 'webp'
    /**
     * Whether to paste the result back into the whole, uncropped photo. Default: false.
     */
    fullResolution?: boolean
  }
}
export interface AcceptedTryOn {
  generationId: string
  status: 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'FAILED'
  /**
   * The id that was sent, or the id that the server assigned to a one-shot product, valid in later calls.
   */
  productExternalId: string
  /**
   * Name of the engine that renders the try-on.
   */
  engineName: string
  /**
   * Name of the requested or default engine when a fallback engine of the account replaces it; absent otherwise.
   */
  requestedEngine?: string
  /**
   * While PENDING: estimated seconds until a worker starts the try-on, including the start of a worker pool that was scaled to zero.
   */
  estimatedStartSeconds?: number
  /**
   * While PENDING: range in seconds in which a worker starts the try-on in 9 of 10 cases.
   */
  estimatedStartRange?: {
    min: number
    max: number
  }
  /**
   * While PENDING: estimated seconds until the try-on ends, at the pace of recent try-ons.
   */
  estimatedSeconds?: number
  /**
   * Codes of ignored fields: older fields sent in addition to the new ones, classifications with unknown values, and EXTERNAL_USER_ID_IGNORED for an externalUserId that is not at the top level of the body.
   */
  warnings?: string[]
}
export interface Generation {
  generationId: string
  /**
   * COMPLETED and FAILED are final.
   */
  status: 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'FAILED'
  /**
   * While PENDING: position in the queue; 1 starts next.
   */
  queuePosition?: number
  /**
   * While PENDING: estimated seconds until a worker starts the try-on, including the start of a worker pool that was scaled to zero.
   */
  estimatedStartSeconds?: number
  /**
   * While PENDING: range in seconds in which a worker starts the try-on in 9 of 10 cases.
   */
  estimatedStartRange?: {
    min: number
    max: number
  }
  /**
   * While PENDING: estimated seconds until the try-on ends, at the pace of recent try-ons.
   */
  estimatedSeconds?: number
  /**
   * While PROCESSING: share of the work that is done.
   */
  progress?: number
  /**
   * When COMPLETED, until the image expires or is erased: URL of the image. It works for 1 hour; fetch the generation again for a new URL.
   */
  resultImageUrl?: string
  /**
   * True when the image has expired or was erased; resultImageUrl is absent then.
   */
  imagesExpired?: boolean
  /**
   * Name of the engine that renders the try-on.
   */
  engineName: string
  /**
   * Name of the requested or default engine when a fallback engine of the account replaces it; absent otherwise.
   */
  requestedEngine?: string
  /**
   * Consent of the person in the photo. Stored and returned with the generation.
   */
  consent?: {
    /**
     * Domain of a shop of the account, or a policy that the operator published for the account.
     */
    policy: string
    /**
     * Current version of the policy.
     */
    version: string
    /**
     * When the person agreed; not in the future.
     */
    at: string
  }
  /**
   * The engine that rendered the image.
   */
  engine?: {
    name: string
    version: string
    /**
     * SPDX expression.
     */
    license: string
    /**
     * Kind of its images: photo, preview or test.
     */
    kind: string
  }
  category?: string | null
  quality?: number | null
  /**
   * When COMPLETED: duration of each stage in ms.
   */
  timings?: {
    [k: string]: number
  }
  /**
   * When COMPLETED: warnings about the result (upper case) and about the photo (lower case).
   */
  warnings?: string[]
  /**
   * When COMPLETED: the secret salt of the photo's and the product image's hashes in the result's Content Credentials. It proves that the result was made from an image; keep it secret.
   */
  ingredientSalt?: string
  /**
   * When FAILED: human-readable reason.
   */
  errorMessage?: string
  /**
   * When FAILED: stable error code; branch on it.
   */
  errorCode?: string
  /**
   * When FAILED: the images of the call that caused the failure, by their fields in the current format of the call. The index counts the images of the product, also when the call referred to a product of the catalog.
   */
  errorDetails?: {
    path: string
    /**
     * The problem.
     */
    message: string
  }[]
  /**
   * When FAILED because a safety check refused an image: page on which the person in the photo can ask for a review. Anyone with the URL can.
   */
  appealUrl?: string
  createdAt: string
  /**
   * Time of the last status change; strictly increasing. Progress does not change it.
   */
  updatedAt: string
}
export interface Appeal {
  generationId: string
  /**
   * OPEN: no operator has decided yet. ALLOWED: the next try-on of the account with the same two images passes the check that refused, once. REFUSED: the refusal is upheld. BLOCKED: the refusal is upheld, and the image is refused from now on.
   */
  state: 'OPEN' | 'ALLOWED' | 'REFUSED' | 'BLOCKED'
  reason: string
  /**
   * Whether the shopper appealed, at `appealUrl` of the generation.
   */
  byShopper: boolean
  answer: string | null
  createdAt: string
  decidedAt: string | null
}
export interface Upload {
  /**
   * Value of person.image.source.id in a try-on.
   */
  imageId: string
  /**
   * URL of the photo as cropped for try-ons. It works for 15 minutes.
   */
  imageUrl: string
  crop?: {
    x: number
    y: number
    width: number
    height: number
  } | null
  personDetected?: boolean
  /**
   * Present if no worker has examined the photo within 15 s, or none runs: the URL then shows the whole photo. Try-ons crop it nevertheless, so no second upload is needed.
   */
  cropPending?: true
  /**
   * Reasons why a try-on with this photo may give a poor result.
   */
  warnings?: string[]
}
export interface ProductInput {
  /**
   * Your id of the product. The server assigns ids that start with _anon_.
   */
  externalId: string
  /**
   * Title of the product, used to recognise the garment category.
   */
  title?: string
  description?: string
  /**
   * Images in order. Required for a new product; replaces all images of an existing product.
   *
   * @minItems 1
   * @maxItems 50
   */
  images?: {
    /**
     * Exactly one of url and fileKey.
     */
    source: {
      /**
       * An http or https address, or the sourceUrl (upload://…) of a stored image of the account.
       */
      url?: string
      /**
       * The name of a file field of the multipart body.
       */
      fileKey?: string
    }
    /**
     * Classifications of the image. Known keys: type (flat_lay, ghost_mannequin, on_model, detail, other), view (front, back, side) and category (tops, bottoms, one-pieces, outerwear, other), in any letter case; an unknown value is ignored, with a warning. on_model: true is the same as type: on_model. Other keys are stored and returned. At most 4 KB as JSON.
     */
    classifications?: {
      [k: string]: unknown
    }
  }[]
  validForDays?: number | null
  /**
   * Stored and returned unchanged, including the order of members and numbers of any length. At most 64 KB as JSON.
   */
  metadata?: {
    [k: string]: unknown
  }
}
export interface Product {
  externalId: string
  title: string | null
  description: string | null
  /**
   * The classifications that were sent, and those that a try-on detected in the image.
   */
  images: {
    /**
     * URL of the image; upload://… for an image sent as a file.
     */
    sourceUrl: string
    /**
     * Index in the list that was sent.
     */
    order: number
    classifications: {
      [k: string]: unknown
    } | null
    detected?: {
      type: 'flat_lay' | 'ghost_mannequin' | 'on_model' | 'detail' | 'other'
      view: ('front' | 'back' | 'side') | null
      category: 'tops' | 'bottoms' | 'one-pieces' | 'outerwear' | 'other'
      confidence: number
    }
  }[]
  /**
   * The object that was sent, or null.
   */
  metadata: unknown
  validForDays: number | null
  lastUsedAt: string | null
  expiresAt: string | null
  createdAt: string
  updatedAt: string
  /**
   * Codes of ignored classifications, in the answer to the call that sent them.
   */
  warnings?: string[]
}
export interface ProductList {
  items: Product[]
  nextCursor: string | null
  hasMore: boolean
  /**
   * Items on this page.
   */
  count: number
}
export interface ProductStatistics {
  totalGenerations: number
  completedGenerations: number
  failedGenerations: number
  /**
   * Mean duration of completed generations in ms; 0 without any.
   */
  avgGenerationTimeMs: number
}
export interface ProductBatch {
  batchId: string
  /**
   * processing: products are being stored, or the request was interrupted (send it again with the same Idempotency-Key). fetching: all products are stored, images are being fetched.
   */
  status: 'processing' | 'fetching' | 'completed'
  createdAt: string
  counts: {
    total: number
    created: number
    updated: number
    unchanged: number
    failed: number
    /**
     * Products without a result yet.
     */
    pending: number
  }
  images: {
    total: number
    pending: number
    fetched: number
    failed: number
    /**
     * Images not fetched because the product was changed or deleted meanwhile.
     */
    replaced: number
  }
  /**
   * Products that have a result, in the order of the batch.
   */
  items: ProductBatchItem[]
  nextCursor: string | null
  hasMore: boolean
}
export interface ProductBatchItem {
  /**
   * Position in the batch, from 0.
   */
  index: number
  /**
   * Line of the body where the product starts, from 1.
   */
  line: number
  externalId: string | null
  result: 'created' | 'updated' | 'unchanged' | 'failed'
  error?: {
    /**
     * As POST /products returns it.
     */
    code: string
    message: string
    details?:
      | {
          /**
           * Path of the field as sent; the form field of a file; empty for the body itself.
           */
          path: string
          message: string
        }[]
      | {
          /**
           * The missing classification.
           */
          key: string
        }
      | {
          /**
           * The first check that failed. `signature` also covers unknown domains; the dashboard of the service shows which check failed.
           */
          check: 'format' | 'clock' | 'body' | 'signature' | 'nonce'
          /**
           * Current time of the server.
           */
          serverTime: string
        }
      | {
          /**
           * Current version of the policy.
           */
          version: string
        }
      | {
          estimatedStartSeconds: number
          estimatedSeconds: number
        }
  }
  images: {
    pending: number
    fetched: number
    failures: {
      url: string
      /**
       * For example PRODUCT_IMAGE_FETCH_FAILED or QUOTA_EXCEEDED.
       */
      code: string
    }[]
  }
}
export interface Listener {
  listenerId: string
  /**
   * @minItems 1
   * @maxItems 10
   */
  events: (
    | 'generation.completed'
    | 'generation.failed'
    | 'credits.low'
    | 'customer.erased'
    | 'erasure.confirmed'
    | 'review.decided'
  )[]
  /**
   * Expiry of the listener, 60 seconds after the last poll.
   */
  expiresAt: string
}
export interface PolledEvents {
  /**
   * At most 20, in order; empty after waitSeconds.
   */
  events: {
    deliveryId: number
    /**
     * The webhook-id of the event.
     */
    eventId: string
    type: string
    /**
     * Time of the event.
     */
    timestamp: string
    data: {
      accountId: string
      [k: string]: unknown
    }
  }[]
  expiresAt: string
}
export interface QueuedEvent {
  eventId: string
  /**
   * Number of receivers of the event.
   */
  deliveries: number
}
export interface Account {
  id: string
  /**
   * Mode of the key: test for keys sk_test_…, whose account has a separate id.
   */
  mode: 'live' | 'test'
  name: string
  email?: string
  /**
   * Remaining credits.
   */
  creditBalance: number
  isActive: boolean
  /**
   * Default retention of images in days: 1 to 90.
   */
  retentionDays: number
  createdAt: string
}
export interface Credits {
  /**
   * Remaining credits.
   */
  creditBalance: number
}
export interface Analytics {
  /**
   * Time zone of all days.
   */
  timeZone: 'UTC'
  shop: string | null
  from: string
  to: string
  totals: {
    /**
     * Visitors who opened a product page.
     */
    visitors: number
    /**
     * Visitors who used the widget.
     */
    engaged: number
    /**
     * Of engaged: visitors who started a try-on.
     */
    generationStarted: number
    /**
     * Of generationStarted: visitors who saw a result.
     */
    resultViewed: number
    /**
     * Of resultViewed: visitors who added a product to the cart afterwards.
     */
    tryOnCarted: number
    /**
     * Of visitors: visitors who added a product to the cart, with or without a try-on.
     */
    carted: number
    /**
     * Orders.
     */
    orders: number
    /**
     * Of orders: orders of visitors who saw a result in the 30 days before.
     */
    tryOnOrders: number
    /**
     * Visitors who were asked for their e-mail address.
     */
    emailPrompted: number
    /**
     * Visitors who left their e-mail address.
     */
    emailCollected: number
  }
  rates: {
    cart: number | null
    cartAfterResult: number | null
    ordersAfterTryOn: number | null
    emailCollection: number | null
  }
  /**
   * Each day from from to to, oldest first, also days without events.
   */
  days: AnalyticsDay[]
}
export interface AnalyticsDay {
  /**
   * Day in UTC.
   */
  day: string
  /**
   * Visitors who opened a product page.
   */
  visitors: number
  /**
   * Visitors who used the widget.
   */
  engaged: number
  /**
   * Of engaged: visitors who started a try-on.
   */
  generationStarted: number
  /**
   * Of generationStarted: visitors who saw a result.
   */
  resultViewed: number
  /**
   * Of resultViewed: visitors who added a product to the cart afterwards.
   */
  tryOnCarted: number
  /**
   * Of visitors: visitors who added a product to the cart, with or without a try-on.
   */
  carted: number
  /**
   * Orders.
   */
  orders: number
  /**
   * Of orders: orders of visitors who saw a result in the 30 days before.
   */
  tryOnOrders: number
  /**
   * Visitors who were asked for their e-mail address.
   */
  emailPrompted: number
  /**
   * Visitors who left their e-mail address.
   */
  emailCollected: number
}
export interface EngineDescription {
  /**
   * Value of `output.engine`.
   */
  name: string
  version: string | null
  kind: ('preview' | 'photo' | 'test') | null
  license: string | null
  /**
   * Categories of garments that the engine accepts.
   */
  categories: ('tops' | 'bottoms' | 'one-pieces' | 'outerwear' | 'other')[]
  /**
   * Classifications of product images that the engine accepts, by its Engine resource or its workers.
   */
  garmentTypes: ('flat_lay' | 'ghost_mannequin' | 'on_model' | 'detail' | 'other')[]
  /**
   * Values of `output.mode`.
   */
  modes: ('fast' | 'balanced' | 'quality')[]
  /**
   * Price of a try-on in credits.
   */
  credits: number
  /**
   * Whether try-ons that name no engine use this engine.
   */
  isDefault: boolean
  /**
   * ready: live workers run the engine. scaling_from_zero: no worker is live; an accepted try-on waits until a worker starts. unavailable: no worker is live and none is expected; a try-on is refused with SERVICE_UNAVAILABLE.
   */
  state: 'ready' | 'scaling_from_zero' | 'unavailable'
  expectedWaitSeconds: number | null
}
export interface EngineList {
  engines: EngineDescription[]
}
export interface StorefrontBatch {
  /**
   * @minItems 1
   * @maxItems 50
   */
  events: {
    event:
      | 'widget:button_click'
      | 'widget:image_upload'
      | 'widget:generation_start'
      | 'widget:result_view'
      | 'widget:share_clicked'
      | 'widget:download_clicked'
      | 'widget:add_to_cart_clicked'
      | 'widget:add_to_cart'
      | 'widget:email_collected'
      | 'product_page:page_view'
      | 'product_page:cart_add'
    /**
     * Any JSON object of at most 8 KB.
     */
    properties?: Record<string, unknown>
    /**
     * Time of the event by the clock of the sender: ISO 8601, UTC when it has no offset.
     */
    timestamp: string
    /**
     * Unique ID. Events of the account with the same ID count once.
     */
    $insert_id: string
  }[]
  context: {
    /**
     * The same as the header X-Service-Anonymous-Id.
     */
    anonymous_id: string
    session_id: string
    $pageview_id: string
    widget_version: string
    widget_enabled: boolean
    product_id: string | null
    variant_id: string | null
    /**
     * 0 when there is no display.
     */
    $screen_width: number
    /**
     * 0 when there is no display.
     */
    $screen_height: number
    $timezone: string
    $current_url?: string | null
    $pathname?: string | null
    $host?: string | null
    $viewport_width?: number | null
    $viewport_height?: number | null
    $raw_user_agent?: string | null
    $browser_language?: string | null
    /**
     * Source of the batch.
     */
    integration?: string
  }
}
export interface EventsAnswer {
  /**
   * Whether the whole batch was accepted.
   */
  success: boolean
  /**
   * Problem of the first rejected event.
   */
  message?: string
}
export interface ErrorBody {
  /**
   * Stable code; branch on it.
   */
  code:
    | 'MISSING_API_KEY'
    | 'INVALID_API_KEY'
    | 'FORBIDDEN'
    | 'VALIDATION_FAILED'
    | 'EXTERNAL_ID_REQUIRED'
    | 'PRODUCT_IMAGES_REQUIRED'
    | 'CUSTOMER_IMAGE_REQUIRED'
    | 'FILE_REQUIRED'
    | 'MULTIPART_FILE_NOT_FOUND'
    | 'INVALID_IMAGE_INPUT'
    | 'INVALID_IMAGE'
    | 'UNSUPPORTED_IMAGE_TYPE'
    | 'CUSTOMER_IMAGE_FETCH_FAILED'
    | 'PRODUCT_IMAGE_FETCH_FAILED'
    | 'MISSING_REQUIRED_CLASSIFICATION'
    | 'FILE_TOO_LARGE'
    | 'INSUFFICIENT_CREDITS'
    | 'QUOTA_EXCEEDED'
    | 'RATE_LIMITED'
    | 'PRODUCT_NOT_FOUND'
    | 'GENERATION_NOT_FOUND'
    | 'ACCOUNT_NOT_FOUND'
    | 'BATCH_NOT_FOUND'
    | 'EVENT_NOT_FOUND'
    | 'ERASURE_NOT_FOUND'
    | 'LISTENER_NOT_FOUND'
    | 'APPEAL_NOT_FOUND'
    | 'ROUTE_NOT_FOUND'
    | 'METHOD_NOT_ALLOWED'
    | 'HEADERS_TOO_LARGE'
    | 'RESERVED_EXTERNAL_ID'
    | 'IDEMPOTENCY_KEY_IN_USE'
    | 'IDEMPOTENCY_KEY_REUSED'
    | 'INTERNAL_ERROR'
    | 'SERVICE_UNAVAILABLE'
    | 'GENERATION_FAILED'
    | 'GENERATION_TIMEOUT'
    | 'GENERATION_CANCELLED'
    | 'NO_PERSON_DETECTED'
    | 'RESULT_REJECTED'
    | 'NUDITY_DETECTED'
    | 'EXPOSURE_NOT_ALLOWED'
    | 'SEVERAL_PEOPLE'
    | 'AGE_REVIEW'
    | 'IMAGE_LISTED'
    | 'SAFETY_UNAVAILABLE'
    | 'PROXY_SIGNATURE_INVALID'
    | 'WEBHOOK_SIGNATURE_INVALID'
    | 'BILLING_NOT_ALLOWED'
    | 'RATE_LIMIT_EXCEEDED'
    | 'GENERATION_NOT_COMPLETED'
    | 'SHARE_LINK_NOT_FOUND'
    | 'SHARE_LINK_GONE'
    | 'IMAGE_NOT_FOUND'
    | 'UPLOAD_NOT_FOUND'
    | 'CAPTCHA_REQUIRED'
    | 'VISITOR_TOKEN_REQUIRED'
    | 'CONSENT_REQUIRED'
    | 'CONSENT_OUTDATED'
    | 'CONSENT_POLICY_UNKNOWN'
  /**
   * Human-readable text, which may change; branch on code.
   */
  message: string
  /**
   * The HTTP status.
   */
  status: number
  details?:
    | {
        /**
         * Path of the field as sent; the form field of a file; empty for the body itself.
         */
        path: string
        message: string
      }[]
    | {
        /**
         * The missing classification.
         */
        key: string
      }
    | {
        /**
         * The first check that failed. `signature` also covers unknown domains; the dashboard of the service shows which check failed.
         */
        check: 'format' | 'clock' | 'body' | 'signature' | 'nonce'
        /**
         * Current time of the server.
         */
        serverTime: string
      }
    | {
        /**
         * Current version of the policy.
         */
        version: string
      }
    | {
        estimatedStartSeconds: number
        estimatedSeconds: number
      }
}
export interface UploadForm {
  /**
   * The photo: JPEG, PNG, WebP or HEIC, at most 10 MB.
   */
  file: string
  /**
   * Whether the photo is cropped to 4:5 around the person; false keeps its framing. Default: true.
   */
  crop?: boolean
  /**
   * Your opaque id of the end user, without personal data. Required for erasure.
   */
  externalUserId?: string
  /**
   * Days until the images are deleted. Default: the retention of the account.
   */
  keepForDays?: 1 | 3 | 7
  /**
   * @deprecated
   * Older externalUserId.
   */
  customerId?: string
  /**
   * @deprecated
   * Older keepForDays.
   */
  retentionDays?: 1 | 3 | 7
}
export interface ListProductsQuery {
  /**
   * Maximum number of products per page. Pages are limited to about 2 MB.
   */
  limit?: number
  /**
   * The nextCursor of the previous page.
   */
  cursor?: string
}
export interface StatisticsQuery {
  /**
   * Start of the window (inclusive): ISO 8601, UTC without an offset; a date means its first moment.
   */
  from?: string
  /**
   * End of the window (inclusive); a date means its last moment.
   */
  to?: string
}
export interface AnalyticsQuery {
  /**
   * Domain or ID of one shop. Absent: all shops and apps of the account.
   */
  shop?: string
  /**
   * First day in UTC, for example 2026-11-01. Default: 13 days before to.
   */
  from?: string
  /**
   * Last day in UTC, included. Default: today. At most 365 days after from.
   */
  to?: string
}
