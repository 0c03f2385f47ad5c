import { DrapeApiError, DrapeConnectionError, DrapeGenerationError, DrapeTimeoutError } from './client/index.ts'

/** What happened, and what helps, by the service's code. */
export const EXPLAINED = {
  MISSING_API_KEY: ['There is no key', 'Enter your API key above.'],
  INVALID_API_KEY: [
    'This key does not work',
    'It is wrong or was revoked, or its account is not active. Look for it where you got it, or ask for a new one.',
  ],
  FORBIDDEN: ['That belongs to another account', 'Use the key with which it was made.'],
  VALIDATION_FAILED: ['Something in the request is not valid', 'See below which field, and change it.'],
  EXTERNAL_ID_REQUIRED: ['The product has no id', 'Give it one.'],
  PRODUCT_IMAGES_REQUIRED: ['There is no picture of the product', 'Choose one above.'],
  CUSTOMER_IMAGE_REQUIRED: ['There is no photo', 'Choose one above.'],
  FILE_REQUIRED: ['The photo did not come along', 'Choose it again.'],
  MULTIPART_FILE_NOT_FOUND: ['A picture did not come along', 'Choose it again.'],
  INVALID_IMAGE_INPUT: ['A picture did not come along', 'Choose it again.'],
  INVALID_IMAGE: [
    'A picture cannot be read',
    'It is damaged, or has too few or too many pixels. Open it and save it again as a JPEG, or take another one.',
  ],
  UNSUPPORTED_IMAGE_TYPE: ['This kind of file is not taken', 'Use a JPEG, PNG, WebP or HEIC.'],
  CUSTOMER_IMAGE_FETCH_FAILED: ['The photo could not be fetched', 'Save it first, then choose the file.'],
  PRODUCT_IMAGE_FETCH_FAILED: [
    'The picture of the product could not be fetched',
    'Save it first, then choose the file.',
  ],
  MISSING_REQUIRED_CLASSIFICATION: [
    'The engine cannot use this picture of the product',
    'It takes the product alone, laid out flat or on an invisible body, not worn by somebody.',
  ],
  FILE_TOO_LARGE: ['A file is larger than 10 MB', 'Save it smaller: 2,000 pixels on the long side are plenty.'],
  INSUFFICIENT_CREDITS: [
    'The account has no credits left',
    'Nothing was charged. Ask whoever runs this service for more; the engine “mock” costs nothing.',
  ],
  QUOTA_EXCEEDED: [
    'The account has reached its limit',
    'It is one of the month, or of generations at once. Wait for those that run, or ask for a higher one.',
  ],
  RATE_LIMITED: ['Too many requests', 'Wait a moment, then try again.'],
  RATE_LIMIT_EXCEEDED: ['Too many requests', 'Wait a moment, then try again.'],
  PRODUCT_NOT_FOUND: ['The product is not known any more', 'Choose its picture again.'],
  GENERATION_NOT_FOUND: ['This generation is not known', 'It was made with another key, or is gone. Try it on again.'],
  ACCOUNT_NOT_FOUND: ['The account does not exist any more', 'Use a key of another one.'],
  ROUTE_NOT_FOUND: ['The service does not know this call', 'It may have been updated: reload the page.'],
  METHOD_NOT_ALLOWED: ['The service does not know this call', 'It may have been updated: reload the page.'],
  RESERVED_EXTERNAL_ID: ['This id of a product is reserved', 'Use one that does not start with _anon_.'],
  IDEMPOTENCY_KEY_IN_USE: ['The same request is still running', 'Wait a moment, then try again.'],
  IDEMPOTENCY_KEY_REUSED: ['This request was sent before with other pictures', 'Reload the page, then try again.'],
  INTERNAL_ERROR: ['Something went wrong in the service', 'Try again. If it stays, tell whoever runs it the id below.'],
  SERVICE_UNAVAILABLE: ['The service is not available for a moment', 'Your pictures are still here. Try again soon.'],
  GENERATION_FAILED: [
    'The picture could not be made',
    'The credit came back. Try again or another photo; or another engine, in case no worker here runs this one.',
  ],
  GENERATION_TIMEOUT: [
    'It took too long',
    'The credit came back. Perhaps no worker runs this engine, or the line is long: try again or choose another engine.',
  ],
  GENERATION_CANCELLED: ['Cancelled', 'The credit came back.'],
  NO_PERSON_DETECTED: [
    'Nobody was found in the photo',
    'The credit came back. Use a photo of one person, seen from the front, in good light.',
  ],
  RESULT_REJECTED: [
    'The result was not good enough to be shown',
    'The credit came back. It says why below; another photo of the person usually helps.',
  ],
  UNEXPECTED_ANSWER: [
    'The answer did not come from the service',
    'Something between you and it has answered instead, such as a proxy. Try again soon.',
  ],
}

/**
 * An error in the words of this page: `title`, `advice`, and where there are any `said` (the service's own words), `fields`,
 * `code` and `requestId`.
 */
export function explain(error) {
  if (error instanceof DrapeConnectionError) {
    return {
      title: 'The connection broke',
      advice:
        'Nothing is lost: your pictures are still here, and trying again goes on with the same request, so that nothing is paid twice.',
    }
  }
  if (error instanceof DrapeTimeoutError) {
    return { title: 'No answer came in time', advice: 'Nothing is lost: try again, nothing is paid twice.' }
  }
  if (error instanceof DrapeGenerationError) return { ...byCode(error.code), said: error.message, code: error.code }
  if (!(error instanceof DrapeApiError)) {
    return { title: 'This page has a fault', advice: 'Reload it, then try again.', said: String(error) }
  }
  const { code, message, requestId, retryAfter, details } = error
  const { title, advice } = byCode(code)
  const wait = retryAfter === null ? '' : ` It asks to wait for ${Math.ceil(retryAfter)} s.`
  const fields = Array.isArray(details) ? details : []
  return { title, advice: advice + wait, said: message, fields, code, requestId }
}

function byCode(code) {
  const [title, advice] = EXPLAINED[code] ?? ['The picture could not be made', 'Try again, or use other pictures.']
  return { title, advice }
}

/** What a result or a photo may be short of, by the service's word. */
const WARNINGS = {
  no_person: 'Nobody was found in the photo.',
  several_people: 'There are several people in the photo; the most prominent one was dressed.',
  too_small: 'The person is small in the photo.',
  blurred: 'The photo is blurred.',
  truncated: 'The photo does not show the whole body.',
  too_dark: 'The photo is dark.',
  HEM_OUTSIDE_PICTURE: 'The product goes on below the picture.',
  LARGE_SKIN_INVENTED: 'Much of the skin was covered in the photo and had to be made up.',
  LARGE_BACKGROUND_INVENTED: 'Much of the background was covered in the photo and had to be made up.',
  OLD_GARMENT_LONGER: 'The clothes in the photo are longer than the product.',
  OLD_HEM_VISIBLE: 'A hem of the clothes in the photo is still seen.',
  OLD_GARMENT_REMAINS: 'Something of the clothes in the photo is still seen.',
  PERSON_TURNED: 'The person is turned a little to the side; a front view comes out better.',
  POSE_WITHOUT_HANDS: 'The hands are not seen, so that the arms are a guess.',
  CATEGORY_ASSUMED: 'What the product is had to be guessed; choose it beside the picture.',
  GARMENT_ASYMMETRIC: 'The product does not lie straight in its picture.',
  GARMENT_STRETCHED: 'The product had to be stretched a lot.',
  SLEEVE_FOLDED: 'A sleeve is folded in the picture of the product.',
  RESULT_ENLARGED: 'The result was enlarged; a larger photo gives a sharper one.',
  SEED_IGNORED: 'This engine makes the same picture whatever the seed is.',
  MODE_IGNORED: 'This engine makes the same picture in every mode.',
  WATERMARK_MISSING: 'The logo could not be put on.',
}

export function explainWarning(code) {
  return WARNINGS[code] ?? code.toLowerCase().replaceAll('_', ' ')
}
