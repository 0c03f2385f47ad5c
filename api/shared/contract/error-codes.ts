/** What clients, operators and programs need to know of one error code. */
export interface ErrorFacts {
  /** Of HTTP; of codes that only failed generations have, the one of a test answer. */
  readonly status: number
  /** When a caller gets it. */
  readonly condition: string
  /** What a caller does about it. */
  readonly cure: string
  /** As the service words it; the test mode answers with it. */
  readonly example: { readonly message: string; readonly details?: unknown }
  /** Whether a generation can fail with it after the API accepted it: only such generations have it, or requests as well. */
  readonly failure?: 'only' | 'also'
  /** The generation failed because of the service, not of the images or the caller. */
  readonly isServiceFault?: true
  /** A check of the safety policy can have refused the generation. */
  readonly isAppealable?: true
}

const atImage = (message: string) => ({ message, details: [{ path: 'products[0].images[1]', message }] })

const table = {
  MISSING_API_KEY: {
    status: 401,
    condition: 'the key is missing: a secret key in x-api-key, a publishable key in Authorization: Bearer pk_…',
    cure: 'Send the header. A proxy before the service must not remove it.',
    example: { message: 'Send your API key in the header x-api-key.' },
  },
  INVALID_API_KEY: {
    status: 401,
    condition: 'the key is wrong, revoked, expired or not allowed from this address, or the account is not active',
    cure: 'Check the key with GET /tryon/v1/account. Ask the operator for a new key, or for the expiry and allowed addresses of the key.',
    example: { message: 'The API key is not valid.' },
  },
  FORBIDDEN: {
    status: 403,
    condition: 'the resource belongs to another account, or the key has none of the scopes in the message',
    cure: 'Use an ID of your own account, or a key with one of the scopes.',
    example: { message: 'The generation belongs to another account.' },
  },
  VALIDATION_FAILED: {
    status: 400,
    condition: 'the request is not valid; details has one entry per field',
    cure: 'Correct the fields in details and send the request again.',
    example: {
      message: 'The request is not valid.',
      details: [{ path: 'products[0].validForDays', message: 'must be a whole number from 1 to 365' }],
    },
  },
  EXTERNAL_ID_REQUIRED: {
    status: 400,
    condition: 'the product has no externalId',
    cure: 'Send your own ID of the product in externalId.',
    example: { message: 'Send the id of the product in externalId.' },
  },
  PRODUCT_IMAGES_REQUIRED: {
    status: 400,
    condition: 'a new product has no image, or the list of images is empty',
    cure: 'Send at least one image with the first request that names the product. Later requests may leave the list of images out.',
    example: { message: 'A new product needs at least one image.' },
  },
  CUSTOMER_IMAGE_REQUIRED: {
    status: 400,
    condition: 'the request has no person',
    cure: 'Send id, url or fileKey in person.image.source.',
    example: { message: 'Send the photo of the person in person.image.source.' },
  },
  FILE_REQUIRED: {
    status: 400,
    condition: 'the multipart field file is missing',
    cure: 'Send the photo as a file in the form field that details names.',
    example: {
      message: 'Send the photo in the multipart field file.',
      details: [{ path: 'file', message: 'is required' }],
    },
  },
  MULTIPART_FILE_NOT_FOUND: {
    status: 400,
    condition: 'a fileKey is not among the files of the multipart body; details names the image',
    cure: 'Give the file field of the form the same name as the fileKey.',
    example: atImage('The request has no file field named shirt.'),
  },
  INVALID_IMAGE_INPUT: {
    status: 400,
    condition:
      'an image has neither url nor fileKey, or names bytes that are no longer stored; details names the image',
    cure: 'Send exactly one of url and fileKey, and files that have expired again.',
    example: atImage('Image 1 has neither url nor fileKey.'),
  },
  INVALID_IMAGE: {
    status: 400,
    condition: 'the image is too small, too large in pixels or damaged; details names the image',
    cure: 'Send another file. Images must be complete and within the pixel limits.',
    example: atImage('The image is damaged or incomplete.'),
    failure: 'also',
  },
  UNSUPPORTED_IMAGE_TYPE: {
    status: 400,
    condition: 'the bytes are not JPEG, PNG, WebP or HEIC; details names the image',
    cure: 'Convert the image. The format is detected from the bytes, not from the file name.',
    example: atImage('The file is not a JPEG, PNG, WebP or HEIC image.'),
    failure: 'also',
  },
  CUSTOMER_IMAGE_FETCH_FAILED: {
    status: 400,
    condition: 'the photo could not be downloaded from its url; details names the field; a retry may succeed',
    cure: 'Check that the URL works without a sign-in and from outside of your network, or send the bytes.',
    example: {
      message: 'The image could not be fetched: the server returned 404.',
      details: [{ path: 'person.image', message: 'The image could not be fetched: the server returned 404.' }],
    },
  },
  PRODUCT_IMAGE_FETCH_FAILED: {
    status: 500,
    condition: 'the product image could not be downloaded from its url',
    cure: 'Check that the URL works without a sign-in and from outside of your network, or send the bytes.',
    example: atImage('The image could not be fetched: the server returned 404.'),
    failure: 'only',
  },
  MISSING_REQUIRED_CLASSIFICATION: {
    status: 422,
    condition: 'the engine can use no image of the product; details.key names the missing classification',
    cure: 'Send an image of a type that the engine accepts, or choose another engine of GET /tryon/v1/engines.',
    example: { message: 'No image of the product is of a type that the engine accepts.', details: { key: 'flat_lay' } },
    failure: 'also',
  },
  FILE_TOO_LARGE: {
    status: 413,
    condition: 'a file, or the photo at the URL of a person, is larger than 10 MB; details names the image',
    cure: 'Send a smaller image, for example as JPEG.',
    example: atImage('A file is larger than 10 MB.'),
    failure: 'also',
  },
  INSUFFICIENT_CREDITS: {
    status: 402,
    condition: 'the account has too few credits',
    cure: 'Ask the operator for credits. The webhook credits.low warns you in advance.',
    example: { message: 'The account has too few credits.' },
  },
  QUOTA_EXCEEDED: {
    status: 402,
    condition:
      'the account has reached its limit of generations per month, concurrent generations, stored bytes or listeners',
    cure: 'Wait until running work ends or the month is over, delete stored images, or ask the operator for a higher limit.',
    example: { message: 'The account already has 5 listeners. End a listener, or wait for 60 seconds.' },
  },
  RATE_LIMITED: {
    status: 429,
    condition: 'the account made too many requests; retry after Retry-After seconds',
    cure: 'Wait for the seconds in Retry-After and send the request again.',
    example: {
      message: 'The account has made too many write requests. Send the request again after the seconds in Retry-After.',
    },
  },
  PRODUCT_NOT_FOUND: {
    status: 404,
    condition: 'the product does not exist or has expired; send it in full',
    cure: 'Send the product in full, with its images.',
    example: { message: 'The product shirt-17 does not exist.' },
  },
  GENERATION_NOT_FOUND: {
    status: 404,
    condition: 'the generation does not exist',
    cure: 'Check the ID, and that the key belongs to the account and the mode that created the generation.',
    example: { message: 'The generation gen_4fVx2mQ8sLb1 does not exist.' },
  },
  ACCOUNT_NOT_FOUND: {
    status: 404,
    condition: 'the account no longer exists',
    cure: 'Ask the operator. No request of this account succeeds.',
    example: { message: 'The account does not exist.' },
  },
  BATCH_NOT_FOUND: {
    status: 404,
    condition: 'the batch does not exist or is older than 7 days',
    cure: 'Read the products themselves with GET /tryon/v1/products.',
    example: { message: 'The batch does not exist or is older than 7 days.' },
  },
  EVENT_NOT_FOUND: {
    status: 404,
    condition: 'no receiver of the account got the event or delivery in the last 14 days',
    cure: 'Fetch the generation instead.',
    example: { message: 'The event does not exist. Events with at least one receiver are stored for 14 days.' },
  },
  ERASURE_NOT_FOUND: {
    status: 404,
    condition: 'the account has no erasure with this `erasureId`, or its receipt was issued more than 3 years ago',
    cure: 'Check the `erasureId` and the key: the key must be of the same account and mode.',
    example: { message: 'The erasure does not exist.' },
  },
  LISTENER_NOT_FOUND: {
    status: 404,
    condition: 'the listener does not exist, or did not poll for 60 seconds; create another one',
    cure: 'Create a listener and poll it at least every 60 seconds.',
    example: { message: 'The listener does not exist or has ended.' },
  },
  APPEAL_NOT_FOUND: {
    status: 404,
    condition: 'the refusal of the generation has no appeal, or the appeal has been deleted',
    cure: 'Appeal the refusal first. A generation without `appealUrl` cannot be appealed.',
    example: { message: 'The refusal of this generation has no appeal.' },
  },
  ROUTE_NOT_FOUND: {
    status: 404,
    condition: 'the path does not exist',
    cure: 'Compare the path with the API reference. Paths are case-sensitive, and IDs must be encoded.',
    example: { message: 'The route does not exist.' },
  },
  METHOD_NOT_ALLOWED: {
    status: 405,
    condition: 'the path does not support this method; the header Allow lists the supported methods',
    cure: 'Use a method of the header Allow.',
    example: { message: 'The route does not support this method.' },
  },
  HEADERS_TOO_LARGE: {
    status: 431,
    condition: 'the request line and the headers are larger than 16 KB together',
    cure: 'Send fewer cookies and shorter headers.',
    example: { message: 'The request line and the headers are larger than 16 KB together.' },
  },
  RESERVED_EXTERNAL_ID: {
    status: 409,
    condition: 'the externalId of a product to create or update starts with _anon_',
    cure: 'Choose an ID with another prefix.',
    example: { message: 'Ids that start with _anon_ are reserved.' },
  },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    condition: 'the first request with this Idempotency-Key is still running',
    cure: 'Wait for the seconds in Retry-After and send the same request again.',
    example: { message: 'The first request with this Idempotency-Key is still running.' },
  },
  IDEMPOTENCY_KEY_REUSED: {
    status: 422,
    condition: 'this Idempotency-Key was used for another request',
    cure: 'Use a new key for each new request, and the same key only to repeat a request.',
    example: { message: 'This Idempotency-Key was sent with another request.' },
  },
  INTERNAL_ERROR: {
    status: 500,
    condition: 'an unexpected error occurred; retry at most 3 times, with increasing delays',
    cure: 'Retry at most 3 times with the same Idempotency-Key. Then report the X-Request-Id to the operator.',
    example: { message: 'An internal error occurred.' },
  },
  SERVICE_UNAVAILABLE: {
    status: 503,
    condition: 'a part of the service is temporarily unavailable; retry after Retry-After seconds',
    cure: 'Wait for the seconds in Retry-After and retry with the same Idempotency-Key.',
    example: { message: 'The service is temporarily unavailable.' },
  },
  GENERATION_FAILED: {
    status: 500,
    condition: 'the generation failed during processing, in every attempt',
    cure: 'Send the try-on again once.',
    example: { message: 'The inference process ended.' },
    failure: 'only',
    isServiceFault: true,
  },
  GENERATION_TIMEOUT: {
    status: 500,
    condition: 'the generation was not finished before its deadline',
    cure: 'Send the try-on again with a longer output.deadlineSeconds.',
    example: { message: 'The generation was not finished before its deadline.' },
    failure: 'only',
    isServiceFault: true,
  },
  GENERATION_CANCELLED: {
    status: 500,
    condition: 'the generation was cancelled',
    cure: 'No action is needed.',
    example: { message: 'The generation was cancelled.' },
    failure: 'only',
  },
  NO_PERSON_DETECTED: {
    status: 500,
    condition: 'the photo shows no person',
    cure: 'Ask for another photo: one person, from the front, with the upper body in view.',
    example: { message: 'The photo shows no person.' },
    failure: 'only',
  },
  RESULT_REJECTED: {
    status: 500,
    condition: 'the result did not pass the quality checks',
    cure: 'Try another photo or another image of the product.',
    example: { message: 'The garment does not fit the proportions of the person in the photo.' },
    failure: 'only',
    isAppealable: true,
  },
  NUDITY_DETECTED: {
    status: 422,
    condition: 'the photo or the product image shows nudity, which the safety levels `standard` and `strict` refuse',
    cure: 'Use another image in place of the one that details names.',
    example: { message: 'The photo shows nudity.' },
    failure: 'only',
    isAppealable: true,
  },
  EXPOSURE_NOT_ALLOWED: {
    status: 422,
    condition:
      'the photo or the product image shows a person in underwear or swimwear, which the safety level `strict` refuses',
    cure: 'Use another image. A shop for underwear or swimwear asks the operator to allow it.',
    example: { message: 'The photo shows a person in underwear or swimwear.' },
    failure: 'only',
    isAppealable: true,
  },
  SEVERAL_PEOPLE: {
    status: 422,
    condition: 'the photo shows several people, which the safety level `strict` refuses',
    cure: 'Ask for a photo of one person.',
    example: { message: 'The photo shows several people.' },
    failure: 'only',
    isAppealable: true,
  },
  AGE_REVIEW: {
    status: 422,
    condition:
      'the safety level is `strict`, the operator has enabled the age check, and the check cannot tell whether the photo shows an adult: the photo needs a review',
    cure: 'Appeal, or show appealUrl to the person in the photo: an operator decides. Or use another photo.',
    example: { message: 'The photo needs a review by a person: the check cannot tell whether it shows an adult.' },
    failure: 'only',
    isAppealable: true,
  },
  IMAGE_LISTED: {
    status: 422,
    condition:
      'the photo or the product image is on the list of the operator, or an operator blocked the image; the safety levels `standard` and `strict` check both. The message ends with the reason',
    cure: 'Use another image in place of the one that details names.',
    example: { message: 'The photo is on the list of the operator: PUBLIC_FIGURE.' },
    failure: 'only',
    isAppealable: true,
  },
  SAFETY_UNAVAILABLE: {
    status: 503,
    condition: 'the safety level is `strict`, and a check of the images was unavailable',
    cure: 'Try again later. If the error persists, contact the operator.',
    example: { message: 'The worker has no model to check images with.' },
    failure: 'only',
    isServiceFault: true,
  },
  PROXY_SIGNATURE_INVALID: {
    status: 401,
    condition: 'the request has no valid, recent signature of a known shop; check in details names the failed check',
    cure: 'Find the check that failed in the dashboard and correct the secret, the clock or the signed text.',
    example: {
      message: 'The request is not signed by the proxy of a shop.',
      details: [
        { path: '', message: 'failed the check clock', check: 'clock', serverTime: '2026-05-12T09:30:00.000Z' },
      ],
    },
  },
  WEBHOOK_SIGNATURE_INVALID: {
    status: 401,
    condition: 'the webhook is not signed with a secret of the shop that it names',
    cure: 'Store the secret that the platform signs with: drape shop secret add.',
    example: { message: 'The request is not signed with a secret of the shop.' },
  },
  BILLING_NOT_ALLOWED: {
    status: 402,
    condition: 'the plan of the shop does not allow generations',
    cure: 'Ask the operator to change the plan of the shop.',
    example: { message: 'The plan of the shop does not include try-ons.' },
  },
  RATE_LIMIT_EXCEEDED: {
    status: 429,
    condition: 'the shopper or the shop made too many requests; retry after Retry-After seconds',
    cure: 'Wait for the seconds in Retry-After.',
    example: { message: 'Too many requests. Try again later.' },
  },
  GENERATION_NOT_COMPLETED: {
    status: 400,
    condition: 'the generation has no result yet, or failed',
    cure: 'Wait until the generation is COMPLETED, then share it.',
    example: { message: 'Only a completed generation can be shared.' },
  },
  SHARE_LINK_NOT_FOUND: {
    status: 404,
    condition: 'the link does not exist',
    cure: 'Check that the link is complete.',
    example: { message: 'The link does not exist.' },
  },
  SHARE_LINK_GONE: {
    status: 410,
    condition: 'the link has expired, or its image has been deleted',
    cure: 'Share the image again, if it still exists.',
    example: { message: 'The link or its image has expired.' },
  },
  IMAGE_NOT_FOUND: {
    status: 404,
    condition: 'the image does not exist or has been deleted',
    cure: 'Upload the photo again.',
    example: { message: 'The photo does not exist or has expired. Upload it again.' },
  },
  UPLOAD_NOT_FOUND: {
    status: 404,
    condition: 'the upload does not exist, has no bytes yet or has expired',
    cure: 'Start again with POST /public/prepare-upload.',
    example: { message: 'The upload does not exist or has expired. Start again.' },
  },
  CAPTCHA_REQUIRED: {
    status: 403,
    condition: 'the response of the CAPTCHA challenge is missing or not confirmed by the provider',
    cure: 'Show the challenge again and send its new response.',
    example: { message: 'Solve the challenge of the CAPTCHA provider and send its response.' },
  },
  VISITOR_TOKEN_REQUIRED: {
    status: 403,
    condition: 'the shop serves only customers and visitors with a token of POST /public/visitor',
    cure: 'Call POST /public/visitor and send its token with every request of the browser.',
    example: { message: 'Get a token of POST /public/visitor and send it in X-Service-Visitor-Token.' },
  },
  CONSENT_REQUIRED: {
    status: 403,
    condition:
      'the shop stores photos only of visitors who agreed to its policy, and the visitor has not agreed to its current version',
    cure: 'Show the text of GET /public/consent, record the agreement with POST /public/consent, and repeat the request.',
    example: { message: 'The visitor has not agreed to the policy of the shop.' },
  },
  CONSENT_OUTDATED: {
    status: 409,
    condition: 'the consent is to an older version of the policy; version in details names the current one',
    cure: 'Show the current text and ask again.',
    example: {
      message: 'The consent is to an older version of the policy. Ask again with the current version 2026-11.',
      details: [{ path: 'version', message: 'must be 2026-11', version: '2026-11' }],
    },
  },
  CONSENT_POLICY_UNKNOWN: {
    status: 400,
    condition: 'the consent names a policy of another shop, or a version that was never published',
    cure: 'Name the domain of the shop, or the policy that the operator published for your account, with its current version.',
    example: { message: 'The account has no policy other.example with the version 2026-11.' },
  },
} satisfies Readonly<Record<string, ErrorFacts>>

export type ErrorCode = keyof typeof table

/** All public error codes. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorFacts>> = table

export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[]

const codesWith = (fact: (facts: ErrorFacts) => unknown) => ERROR_CODES.filter((code) => fact(ERRORS[code]))

/** The statistics, objectives and alerts count only these as failures. */
export const SERVICE_FAILURE_CODES = codesWith((facts) => facts.isServiceFault)

export const FAILURE_CODES = codesWith((facts) => facts.failure)

export const APPEALABLE_CODES = codesWith((facts) => facts.isAppealable)
