import type { ErrorCode } from '../../../shared/contract/errors.ts'

/** Fields of an error other than code and status. */
export interface ErrorExample {
  readonly message: string
  readonly details?: unknown
}

const atImage = (message: string): ErrorExample => ({
  message,
  details: [{ path: 'products[0].images[1]', message }],
})

/** One example per code, with the service's messages. */
export const ERROR_EXAMPLES: Readonly<Record<ErrorCode, ErrorExample>> = {
  MISSING_API_KEY: { message: 'Send your API key in the header x-api-key.' },
  INVALID_API_KEY: { message: 'The API key is not valid.' },
  FORBIDDEN: { message: 'The generation belongs to another account.' },
  VALIDATION_FAILED: {
    message: 'The request is not valid.',
    details: [{ path: 'products[0].validForDays', message: 'must be a whole number from 1 to 365' }],
  },
  EXTERNAL_ID_REQUIRED: { message: 'Send the id of the product in externalId.' },
  PRODUCT_IMAGES_REQUIRED: { message: 'A new product needs at least one image.' },
  CUSTOMER_IMAGE_REQUIRED: { message: 'Send the photo of the person in person.image.source.' },
  FILE_REQUIRED: {
    message: 'Send the photo in the multipart field file.',
    details: [{ path: 'file', message: 'is required' }],
  },
  MULTIPART_FILE_NOT_FOUND: atImage('The request has no file field named shirt.'),
  INVALID_IMAGE_INPUT: atImage('Image 1 has neither url nor fileKey.'),
  INVALID_IMAGE: atImage('The image is damaged or incomplete.'),
  UNSUPPORTED_IMAGE_TYPE: atImage('The file is not a JPEG, PNG, WebP or HEIC image.'),
  CUSTOMER_IMAGE_FETCH_FAILED: {
    message: 'The image could not be fetched: the server returned 404.',
    details: [{ path: 'person.image', message: 'The image could not be fetched: the server returned 404.' }],
  },
  PRODUCT_IMAGE_FETCH_FAILED: atImage('The image could not be fetched: the server returned 404.'),
  MISSING_REQUIRED_CLASSIFICATION: {
    message: 'No image of the product is of a type that the engine accepts.',
    details: { key: 'flat_lay' },
  },
  FILE_TOO_LARGE: atImage('A file is larger than 10 MB.'),
  INSUFFICIENT_CREDITS: { message: 'The account has no credits left.' },
  QUOTA_EXCEEDED: { message: 'The account already has 5 listeners. End a listener, or wait for 60 seconds.' },
  RATE_LIMITED: {
    message: 'The account has made too many write requests. Send the request again after the seconds in Retry-After.',
  },
  PRODUCT_NOT_FOUND: { message: 'The product shirt-17 does not exist.' },
  GENERATION_NOT_FOUND: { message: 'The generation gen_4fVx2mQ8sLb1 does not exist.' },
  ACCOUNT_NOT_FOUND: { message: 'The account does not exist.' },
  BATCH_NOT_FOUND: { message: 'The batch does not exist or is older than 7 days.' },
  ERASURE_NOT_FOUND: { message: 'The erasure does not exist.' },
  EVENT_NOT_FOUND: { message: 'The event does not exist. Events with at least one receiver are stored for 14 days.' },
  APPEAL_NOT_FOUND: { message: 'The refusal of this generation has no appeal.' },
  LISTENER_NOT_FOUND: { message: 'The listener does not exist or has ended.' },
  ROUTE_NOT_FOUND: { message: 'The route does not exist.' },
  METHOD_NOT_ALLOWED: { message: 'The route does not support this method.' },
  HEADERS_TOO_LARGE: { message: 'The request line and the headers are larger than 16 KB together.' },
  RESERVED_EXTERNAL_ID: { message: 'Ids that start with _anon_ are reserved.' },
  IDEMPOTENCY_KEY_IN_USE: { message: 'The first request with this Idempotency-Key is still running.' },
  IDEMPOTENCY_KEY_REUSED: { message: 'This Idempotency-Key was sent with another request.' },
  INTERNAL_ERROR: { message: 'An internal error occurred.' },
  SERVICE_UNAVAILABLE: { message: 'The service is temporarily unavailable.' },
  GENERATION_FAILED: { message: 'The inference process ended.' },
  GENERATION_TIMEOUT: { message: 'The generation was not finished before its deadline.' },
  GENERATION_CANCELLED: { message: 'The generation was cancelled.' },
  NO_PERSON_DETECTED: { message: 'The photo shows no person.' },
  NUDITY_DETECTED: { message: 'The photo shows nudity.' },
  EXPOSURE_NOT_ALLOWED: { message: 'The photo shows a person in underwear or swimwear.' },
  SEVERAL_PEOPLE: { message: 'The photo shows several people.' },
  AGE_REVIEW: {
    message: 'The photo needs a review by a person: the check cannot tell whether it shows an adult.',
  },
  IMAGE_LISTED: { message: 'The photo is on the list of the operator: PUBLIC_FIGURE.' },
  SAFETY_UNAVAILABLE: { message: 'The worker has no model to check images with.' },
  RESULT_REJECTED: { message: 'The garment does not fit the proportions of the person in the photo.' },
  PROXY_SIGNATURE_INVALID: {
    message: 'The request is not signed by the proxy of a shop.',
    details: [{ path: '', message: 'failed the check clock', check: 'clock', serverTime: '2026-05-12T09:30:00.000Z' }],
  },
  WEBHOOK_SIGNATURE_INVALID: { message: 'The request is not signed with a secret of the shop.' },
  BILLING_NOT_ALLOWED: { message: 'The plan of the shop does not include try-ons.' },
  RATE_LIMIT_EXCEEDED: { message: 'Too many requests. Try again later.' },
  GENERATION_NOT_COMPLETED: { message: 'Only a completed generation can be shared.' },
  SHARE_LINK_NOT_FOUND: { message: 'The link does not exist.' },
  SHARE_LINK_GONE: { message: 'The link or its image has expired.' },
  CAPTCHA_REQUIRED: { message: 'Solve the challenge of the CAPTCHA provider and send its response.' },
  VISITOR_TOKEN_REQUIRED: { message: 'Get a token of POST /public/visitor and send it in X-Service-Visitor-Token.' },
  CONSENT_REQUIRED: { message: 'The visitor has not agreed to the policy of the shop.' },
  CONSENT_OUTDATED: {
    message: 'The consent is to an older version of the policy. Ask again with the current version 2026-11.',
    details: [{ path: 'version', message: 'must be 2026-11', version: '2026-11' }],
  },
  CONSENT_POLICY_UNKNOWN: { message: 'The account has no policy other.example with the version 2026-11.' },
  IMAGE_NOT_FOUND: { message: 'The photo does not exist or has expired. Upload it again.' },
  UPLOAD_NOT_FOUND: { message: 'The upload does not exist or has expired. Start again.' },
}
