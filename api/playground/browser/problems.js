import { DrapeApiError, DrapeConnectionError, DrapeGenerationError, DrapeTimeoutError } from './client/index.ts'
import { explainSize } from './image-size.js'

/** Title and advice by error code of the service. */
export const EXPLAINED = {
  MISSING_API_KEY: ['The API key is missing', 'Enter your API key above.'],
  INVALID_API_KEY: [
    'This key does not work',
    'The key is wrong or was revoked, or its account is not active. Check the key or ask for a new one.',
  ],
  FORBIDDEN: [
    'This key is not allowed to do that',
    'Use a key of the same account, with the scope that is named below.',
  ],
  VALIDATION_FAILED: ['The request is not valid', 'Correct the field shown below.'],
  PRODUCT_IMAGES_REQUIRED: ['The product has no image', 'Choose an image above.'],
  CUSTOMER_IMAGE_REQUIRED: ['The photo is missing', 'Choose a photo above.'],
  FILE_REQUIRED: ['The photo was not sent', 'Choose the photo again.'],
  MULTIPART_FILE_NOT_FOUND: ['An image was not sent', 'Choose the image again.'],
  INVALID_IMAGE_INPUT: ['An image was not sent', 'Choose the image again.'],
  INVALID_IMAGE: [
    'An image cannot be read',
    'The image may be damaged. Open it and save it again as a JPEG, or use another image.',
  ],
  UNSUPPORTED_IMAGE_TYPE: ['The file type is not supported', 'Use a JPEG, PNG, WebP or HEIC image.'],
  CUSTOMER_IMAGE_FETCH_FAILED: ['The photo could not be fetched', 'Save it first, then choose the file.'],
  PRODUCT_IMAGE_FETCH_FAILED: ['The image of the product could not be fetched', 'Save it first, then choose the file.'],
  MISSING_REQUIRED_CLASSIFICATION: [
    'The engine cannot use this image of the product',
    'Send a photo of the product alone, laid out flat or on an invisible body, not worn by a person.',
  ],
  FILE_TOO_LARGE: ['A file is larger than 10 MB', 'Reduce its size: 2,000 pixels on the longer side are enough.'],
  CONSENT_OUTDATED: ['The consent is to an older text', 'Ask the person again with the current version.'],
  CONSENT_POLICY_UNKNOWN: [
    'The policy of the consent does not exist',
    'Name a policy of your account and its current version.',
  ],
  INSUFFICIENT_CREDITS: [
    'The account has too few credits',
    'Nothing was charged. Ask the operator of this service for more credits; the engine “mock” costs nothing.',
  ],
  QUOTA_EXCEEDED: [
    'The account has reached its limit',
    'The account has a limit per month and a limit of concurrent generations. Wait until running generations end, or ask for a higher limit.',
  ],
  RATE_LIMITED: ['Too many requests', 'Wait a moment, then try again.'],
  PRODUCT_NOT_FOUND: ['The product does not exist', 'Choose the image of the product again.'],
  GENERATION_NOT_FOUND: [
    'The generation does not exist',
    'It belongs to another account or was deleted. Start a new one.',
  ],
  ACCOUNT_NOT_FOUND: ['The account does not exist', 'Use a key of another account.'],
  ROUTE_NOT_FOUND: ['The service does not know this request', 'The service may have been updated. Reload the page.'],
  METHOD_NOT_ALLOWED: ['The service does not know this request', 'The service may have been updated. Reload the page.'],
  HEADERS_TOO_LARGE: [
    'The browser sends too much with each request',
    'Delete the cookies of this site, then try again.',
  ],
  RESERVED_EXTERNAL_ID: ['The product id is reserved', 'Use an id that does not start with _anon_.'],
  IDEMPOTENCY_KEY_IN_USE: ['The same request is still running', 'Wait a moment, then try again.'],
  IDEMPOTENCY_KEY_REUSED: ['This request was sent before with other images', 'Reload the page, then try again.'],
  INTERNAL_ERROR: [
    'The service has an internal error',
    'Try again. If the problem persists, send the operator of the service the id below.',
  ],
  SERVICE_UNAVAILABLE: ['The service is temporarily unavailable', 'Your images are still here. Try again soon.'],
  GENERATION_FAILED: [
    'The image could not be generated',
    'The price was refunded. Try again, or use another photo or another engine.',
  ],
  GENERATION_TIMEOUT: [
    'The try-on took too long',
    'The price was refunded. The queue may be long, or no worker runs this engine. Try again or choose another engine.',
  ],
  GENERATION_CANCELLED: ['Cancelled', 'The price was refunded.'],
  NO_PERSON_DETECTED: [
    'No person was found in the photo',
    'The price was refunded. Use a photo of one person, seen from the front, in good light.',
  ],
  NUDITY_DETECTED: ['An image shows nudity', 'The price was refunded. Use another image.'],
  EXPOSURE_NOT_ALLOWED: [
    'An image shows underwear or swimwear',
    'The price was refunded. The safety level of the account does not allow it.',
  ],
  SEVERAL_PEOPLE: ['The photo shows several people', 'The price was refunded. Use a photo of one person.'],
  AGE_REVIEW: [
    'The photo needs a review',
    'The price was refunded. The check cannot tell whether the photo shows an adult. Ask for a review, or use another photo.',
  ],
  IMAGE_LISTED: ['An image is on the list of the operator', 'The price was refunded. Use another image.'],
  SAFETY_UNAVAILABLE: ['The images could not be checked', 'The price was refunded. Try again later.'],
  RESULT_REJECTED: [
    'The result was not good enough to be shown',
    'The price was refunded. The reason is below. Another photo of the person usually helps.',
  ],
  UNEXPECTED_ANSWER: [
    'The response did not come from the service',
    'Something between you and the service responded instead, for example a proxy. Try again soon.',
  ],
}

/**
 * Explains an error for users: `title`, `advice`, and, if available, `serviceMessage` (the service's own message), `fields`,
 * `code` and `requestId`. `sizes` has the sizes of the images in pixels, `{ photo, product }`, as far as they are known.
 */
export function explain(error, sizes = {}) {
  if (error instanceof DrapeConnectionError) {
    return {
      title: 'The connection was lost',
      advice: 'Your images are still here. Try again: the same request is repeated, and you are charged once.',
    }
  }
  if (error instanceof DrapeTimeoutError) {
    return {
      title: 'The request timed out',
      advice: 'Try again: the same request is repeated, and you are charged once.',
    }
  }
  if (error instanceof DrapeGenerationError) {
    const { code, message, details } = error
    return { ...byCode(code, details, sizes), serviceMessage: message, fields: details, code }
  }
  if (!(error instanceof DrapeApiError)) {
    return { title: 'This page has an error', advice: 'Reload it, then try again.', serviceMessage: String(error) }
  }
  const { code, message, requestId, retryAfter, details } = error
  const wait = retryAfter === null ? '' : ` It asks to wait for ${Math.ceil(retryAfter)} s.`
  const fields = Array.isArray(details) ? details : []
  const { title, advice } = byCode(code, fields, sizes)
  return { title, advice: advice + wait, serviceMessage: message, fields, code, requestId }
}

function byCode(code, fields, sizes) {
  const isAboutProduct = fields.some(({ path }) => path.startsWith('product'))
  const bySize = explainSize(code, (isAboutProduct ? sizes.product : sizes.photo) ?? null)
  if (bySize !== null) return bySize
  const [title, advice] = EXPLAINED[code] ?? ['The image could not be generated', 'Try again, or use other images.']
  return { title, advice }
}

/** Warnings about results and photos, by the service's code. */
const WARNINGS = {
  no_person: 'No person was found in the photo.',
  several_people: 'There are several people in the photo; the most prominent one was dressed.',
  too_small: 'The person is small in the photo.',
  blurred: 'The photo is blurred.',
  truncated: 'The photo does not show the whole body.',
  too_dark: 'The photo is dark.',
  HEM_OUTSIDE_PICTURE: 'The product extends below the image.',
  LARGE_SKIN_INVENTED: 'Large areas of skin were covered in the photo and had to be generated.',
  LARGE_BACKGROUND_INVENTED: 'Large areas of background were covered in the photo and had to be generated.',
  OLD_GARMENT_LONGER: 'The clothes in the photo are longer than the product.',
  OLD_HEM_VISIBLE: 'A hem of the clothes in the photo is still visible.',
  OLD_GARMENT_REMAINS: 'Part of the clothes in the photo is still visible.',
  PERSON_TURNED: 'The person is turned slightly to the side. A front view gives better results.',
  POSE_WITHOUT_HANDS: 'The hands are not visible, so the position of the arms is estimated.',
  CATEGORY_ASSUMED: 'The category of the product was estimated. You can choose it next to the image.',
  GARMENT_ASYMMETRIC: 'The product is not straight in its image.',
  GARMENT_STRETCHED: 'The product was stretched considerably.',
  GARMENT_FROM_MODEL: 'The product was cut off the person who wears it in its image.',
  SLEEVE_FOLDED: 'A sleeve is folded in the image of the product.',
  PRODUCT_HIDDEN: 'A product of the outfit is hidden by another one.',
  PRODUCT_LEFT_OUT: 'The result lacks a product.',
  RESULT_ENLARGED: 'The result was enlarged. A larger photo gives a sharper result.',
  SEED_IGNORED: 'This engine ignores the seed.',
  MODE_IGNORED: 'This engine ignores the mode.',
  WATERMARK_MISSING: 'The logo could not be added.',
  SAFETY_CHECK_SKIPPED: 'The images were not checked for nudity.',
}

export function explainWarning(code) {
  return WARNINGS[code] ?? code.toLowerCase().replaceAll('_', ' ')
}
