import type { ErrorCode } from '../../shared/contract/errors.ts'

/** How a caller resolves each error code. */
export const ERROR_CURES: Readonly<Record<ErrorCode, string>> = {
  MISSING_API_KEY: 'Send the header. A proxy before the service must not remove it.',
  INVALID_API_KEY:
    'Check the key with GET /tryon/v1/account. Ask the operator for a new key, or for the expiry and allowed addresses of the key.',
  FORBIDDEN: 'Use an ID of your own account, or a key with one of the scopes.',
  VALIDATION_FAILED: 'Correct the fields in details and send the request again.',
  EXTERNAL_ID_REQUIRED: 'Send your own ID of the product in externalId.',
  PRODUCT_IMAGES_REQUIRED:
    'Send at least one image with the first request that names the product. Later requests may leave the list of images out.',
  CUSTOMER_IMAGE_REQUIRED: 'Send id, url or fileKey in person.image.source.',
  FILE_REQUIRED: 'Send the photo as a file in the form field that details names.',
  MULTIPART_FILE_NOT_FOUND: 'Give the file field of the form the same name as the fileKey.',
  INVALID_IMAGE_INPUT: 'Send exactly one of url and fileKey.',
  INVALID_IMAGE: 'Send another file. Images must be complete and within the pixel limits.',
  UNSUPPORTED_IMAGE_TYPE: 'Convert the image. The format is detected from the bytes, not from the file name.',
  CUSTOMER_IMAGE_FETCH_FAILED:
    'Check that the URL works without a sign-in and from outside of your network, or send the bytes.',
  PRODUCT_IMAGE_FETCH_FAILED:
    'Check that the URL works without a sign-in and from outside of your network, or send the bytes.',
  MISSING_REQUIRED_CLASSIFICATION:
    'Send an image of a type that the engine accepts, or choose another engine of GET /tryon/v1/engines.',
  FILE_TOO_LARGE: 'Send a smaller image, for example as JPEG.',
  INSUFFICIENT_CREDITS: 'Ask the operator for credits. The webhook credits.low warns you in advance.',
  QUOTA_EXCEEDED:
    'Wait until running work ends or the month is over, delete stored images, or ask the operator for a higher limit.',
  RATE_LIMITED: 'Wait for the seconds in Retry-After and send the request again.',
  PRODUCT_NOT_FOUND: 'Send the product in full, with its images.',
  GENERATION_NOT_FOUND:
    'Check the ID, and that the key belongs to the account and the mode that created the generation.',
  ACCOUNT_NOT_FOUND: 'Ask the operator. No request of this account succeeds.',
  BATCH_NOT_FOUND: 'Read the products themselves with GET /tryon/v1/products.',
  ERASURE_NOT_FOUND: 'Check the `erasureId` and the key: the key must be of the same account and mode.',
  EVENT_NOT_FOUND: 'Fetch the generation instead.',
  APPEAL_NOT_FOUND: 'Appeal the refusal first. A generation without `appealUrl` cannot be appealed.',
  LISTENER_NOT_FOUND: 'Create a listener and poll it at least every 60 seconds.',
  ROUTE_NOT_FOUND: 'Compare the path with the API reference. Paths are case-sensitive, and IDs must be encoded.',
  METHOD_NOT_ALLOWED: 'Use a method of the header Allow.',
  HEADERS_TOO_LARGE: 'Send fewer cookies and shorter headers.',
  RESERVED_EXTERNAL_ID: 'Choose an ID with another prefix.',
  IDEMPOTENCY_KEY_IN_USE: 'Wait for the seconds in Retry-After and send the same request again.',
  IDEMPOTENCY_KEY_REUSED: 'Use a new key for each new request, and the same key only to repeat a request.',
  INTERNAL_ERROR: 'Retry at most 3 times with the same Idempotency-Key. Then report the X-Request-Id to the operator.',
  SERVICE_UNAVAILABLE: 'Wait for the seconds in Retry-After and retry with the same Idempotency-Key.',
  GENERATION_FAILED: 'Send the try-on again once. The credit was refunded.',
  GENERATION_TIMEOUT: 'Send the try-on again with a longer output.deadlineSeconds. The credit was refunded.',
  GENERATION_CANCELLED: 'No action is needed. The credit was refunded.',
  NO_PERSON_DETECTED:
    'Ask for another photo: one person, from the front, with the upper body in view. The credit was refunded.',
  RESULT_REJECTED: 'Try another photo or another image of the product. The credit was refunded.',
  NUDITY_DETECTED: 'Use another image in place of the one that details names. The credit was refunded.',
  EXPOSURE_NOT_ALLOWED:
    'Use another image. A shop for underwear or swimwear asks the operator to allow it. The credit was refunded.',
  SEVERAL_PEOPLE: 'Ask for a photo of one person. The credit was refunded.',
  AGE_REVIEW:
    'Appeal, or show appealUrl to the person in the photo: an operator decides. Or use another photo. The credit was refunded.',
  IMAGE_LISTED: 'Use another image in place of the one that details names. The credit was refunded.',
  SAFETY_UNAVAILABLE: 'Try again later. If the error persists, contact the operator. The credit was refunded.',
  PROXY_SIGNATURE_INVALID:
    'Find the check that failed in the dashboard and correct the secret, the clock or the signed text.',
  WEBHOOK_SIGNATURE_INVALID: 'Store the secret that the platform signs with: drape shop secret add.',
  BILLING_NOT_ALLOWED: 'Ask the operator to change the plan of the shop.',
  RATE_LIMIT_EXCEEDED: 'Wait for the seconds in Retry-After.',
  GENERATION_NOT_COMPLETED: 'Wait until the generation is COMPLETED, then share it.',
  SHARE_LINK_NOT_FOUND: 'Check that the link is complete.',
  SHARE_LINK_GONE: 'Share the image again, if it still exists.',
  CONSENT_REQUIRED:
    'Show the text of GET /public/consent, record the agreement with POST /public/consent, and repeat the request.',
  CONSENT_OUTDATED: 'Show the current text and ask again.',
  CONSENT_POLICY_UNKNOWN:
    'Name the domain of the shop, or the policy that the operator published for your account, with its current version.',
  IMAGE_NOT_FOUND: 'Upload the photo again.',
  UPLOAD_NOT_FOUND: 'Start again with POST /public/prepare-upload.',
  CAPTCHA_REQUIRED: 'Show the challenge again and send its new response.',
  VISITOR_TOKEN_REQUIRED: 'Call POST /public/visitor and send its token with every request of the browser.',
}
