import type { ErrorCode } from '../../shared/contract/errors.ts'

/** Condition of each error code. */
export const ERROR_CONDITIONS: Readonly<Record<ErrorCode, string>> = {
  MISSING_API_KEY: 'the key is missing: a secret key in x-api-key, a publishable key in Authorization: Bearer pk_…',
  INVALID_API_KEY: 'the key is wrong, revoked, expired or not allowed from this address, or the account is not active',
  FORBIDDEN: 'the resource belongs to another account, or the key has none of the scopes in the message',
  VALIDATION_FAILED: 'the request is not valid; details has one entry per field',
  EXTERNAL_ID_REQUIRED: 'the product has no externalId',
  PRODUCT_IMAGES_REQUIRED: 'a new product has no image, or the list of images is empty',
  CUSTOMER_IMAGE_REQUIRED: 'the request has no person',
  FILE_REQUIRED: 'the multipart field file is missing',
  MULTIPART_FILE_NOT_FOUND: 'a fileKey is not among the files of the multipart body; details names the image',
  INVALID_IMAGE_INPUT: 'an image has neither url nor fileKey; details names the image',
  INVALID_IMAGE: 'the image is too small, too large in pixels or damaged; details names the image',
  UNSUPPORTED_IMAGE_TYPE: 'the bytes are not JPEG, PNG, WebP or HEIC; details names the image',
  CUSTOMER_IMAGE_FETCH_FAILED:
    'the photo could not be downloaded from its url; details names the field; a retry may succeed',
  PRODUCT_IMAGE_FETCH_FAILED: 'the product image could not be downloaded from its url',
  MISSING_REQUIRED_CLASSIFICATION:
    'the engine can use no image of the product; details.key names the missing classification',
  FILE_TOO_LARGE: 'a file, or the photo at the URL of a person, is larger than 10 MB; details names the image',
  INSUFFICIENT_CREDITS: 'the account has no credits left',
  QUOTA_EXCEEDED:
    'the account has reached its limit of generations per month, concurrent generations, stored bytes or listeners',
  RATE_LIMITED: 'the account made too many requests; retry after Retry-After seconds',
  PRODUCT_NOT_FOUND: 'the product does not exist or has expired; send it in full',
  GENERATION_NOT_FOUND: 'the generation does not exist',
  ACCOUNT_NOT_FOUND: 'the account no longer exists',
  BATCH_NOT_FOUND: 'the batch does not exist or is older than 7 days',
  ERASURE_NOT_FOUND:
    'the account has no erasure with this `erasureId`, or its receipt was issued more than 3 years ago',
  EVENT_NOT_FOUND: 'no receiver of the account got the event or delivery in the last 14 days',
  APPEAL_NOT_FOUND: 'the refusal of the generation has no appeal, or the appeal has been deleted',
  LISTENER_NOT_FOUND: 'the listener does not exist, or did not poll for 60 seconds; create another one',
  ROUTE_NOT_FOUND: 'the path does not exist',
  HEADERS_TOO_LARGE: 'the request line and the headers are larger than 16 KB together',
  METHOD_NOT_ALLOWED: 'the path does not support this method; the header Allow lists the supported methods',
  RESERVED_EXTERNAL_ID: 'the externalId of a product to create or update starts with _anon_',
  IDEMPOTENCY_KEY_IN_USE: 'the first request with this Idempotency-Key is still running',
  IDEMPOTENCY_KEY_REUSED: 'this Idempotency-Key was used for another request',
  INTERNAL_ERROR: 'an unexpected error occurred; retry at most 3 times, with increasing delays',
  SERVICE_UNAVAILABLE: 'a part of the service is temporarily unavailable; retry after Retry-After seconds',
  GENERATION_FAILED: 'the generation failed during processing, in every attempt',
  GENERATION_TIMEOUT: 'the generation was not finished before its deadline',
  GENERATION_CANCELLED: 'the generation was cancelled',
  NO_PERSON_DETECTED: 'the photo shows no person',
  RESULT_REJECTED: 'the result did not pass the quality checks',
  NUDITY_DETECTED:
    'the photo or the product image shows nudity, which the safety levels `standard` and `strict` refuse',
  EXPOSURE_NOT_ALLOWED:
    'the photo or the product image shows a person in underwear or swimwear, which the safety level `strict` refuses',
  SEVERAL_PEOPLE: 'the photo shows several people, which the safety level `strict` refuses',
  AGE_REVIEW:
    'the safety level is `strict`, the operator has enabled the age check, and the check cannot tell whether the photo shows an adult: the photo needs a review',
  IMAGE_LISTED:
    'the photo or the product image is on the list of the operator, or an operator blocked the image; the safety levels `standard` and `strict` check both. The message ends with the reason',
  SAFETY_UNAVAILABLE: 'the safety level is `strict`, and a check of the images was unavailable',
  PROXY_SIGNATURE_INVALID:
    'the request has no valid, recent signature of a known shop; check in details names the failed check',
  WEBHOOK_SIGNATURE_INVALID: 'the webhook is not signed with a secret of the shop that it names',
  BILLING_NOT_ALLOWED: 'the plan of the shop does not allow generations',
  RATE_LIMIT_EXCEEDED: 'the shopper or the shop made too many requests; retry after Retry-After seconds',
  GENERATION_NOT_COMPLETED: 'the generation has no result yet, or failed',
  SHARE_LINK_NOT_FOUND: 'the link does not exist',
  SHARE_LINK_GONE: 'the link has expired, or its image has been deleted',
  CAPTCHA_REQUIRED: 'the response of the CAPTCHA challenge is missing or not confirmed by the provider',
  VISITOR_TOKEN_REQUIRED: 'the shop serves only customers and visitors with a token of POST /public/visitor',
  CONSENT_REQUIRED:
    'the shop stores photos only of visitors who agreed to its policy, and the visitor has not agreed to its current version',
  CONSENT_OUTDATED: 'the consent is to an older version of the policy; version in details names the current one',
  CONSENT_POLICY_UNKNOWN: 'the consent names a policy of another shop, or a version that was never published',
  IMAGE_NOT_FOUND: 'the image does not exist or has been deleted',
  UPLOAD_NOT_FOUND: 'the upload does not exist, has no bytes yet or has expired',
}
