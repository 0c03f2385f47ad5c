import { CATEGORIES, GARMENT_TYPES, VIEWS } from '../../shared/generations/generation.ts'

export interface WarningEntry {
  readonly cause: string
  readonly cure: string
}

const photo = 'Ask for another photo: one person, from the front, with the upper body in view, sharp and in good light.'
const checkResult = 'Check the result. A photo in fewer or shorter clothes avoids the warning.'

/** Every warning about photos (lower case), and about results and requests (upper case). */
export const WARNING_CATALOGUE: Readonly<Record<string, WarningEntry>> = {
  no_person: { cause: 'The photo shows no person.', cure: photo },
  several_people: {
    cause: 'The photo shows several people; the largest and most central one is dressed.',
    cure: photo,
  },
  too_small: { cause: 'The person is small in the photo.', cure: photo },
  blurred: { cause: 'The photo is not sharp.', cure: photo },
  truncated: { cause: 'Part of the upper body is outside of the photo.', cure: photo },
  too_dark: { cause: 'The photo is dark.', cure: photo },
  SEED_IGNORED: {
    cause: 'The engine is deterministic, so output.seed has no effect.',
    cure: 'Omit output.seed.',
  },
  MODE_IGNORED: { cause: 'The engine has one mode.', cure: 'Choose a mode that GET /tryon/v1/engines lists.' },
  WATERMARK_MISSING: {
    cause: 'The logo of the account could not be read.',
    cure: 'Upload the logo again, in the dashboard.',
  },
  SAFETY_CHECK_SKIPPED: {
    cause: 'The safety level is `standard`, and a check of the images was unavailable.',
    cure: 'Check the images; ask the operator to repair the check.',
  },
  PRODUCT_HIDDEN: {
    cause: 'Another product of the outfit is worn over it and hides it, without a refund.',
    cure: 'Leave it out, or choose a jacket that is open in the photo.',
  },
  PRODUCT_LEFT_OUT: { cause: 'The outfit lacks a product.', cure: 'See `layers`.' },
  OLD_HEM_VISIBLE: { cause: 'The hem of the worn garment is visible below the new one.', cure: checkResult },
  OLD_GARMENT_REMAINS: { cause: 'Part of the worn garment remains visible.', cure: checkResult },
  OLD_GARMENT_LONGER: { cause: 'The worn garment is longer than the new one.', cure: checkResult },
  LARGE_SKIN_INVENTED: { cause: 'A large area of skin that the photo does not show was generated.', cure: checkResult },
  LARGE_BACKGROUND_INVENTED: {
    cause: 'A large area of background that the photo does not show was generated.',
    cure: checkResult,
  },
  SLEEVE_FOLDED: {
    cause: 'A sleeve is folded in the image of the product; it takes the shape of the other sleeve.',
    cure: 'Send an image of the product with both sleeves spread.',
  },
  GARMENT_ASYMMETRIC: {
    cause: 'The garment is not straight or not symmetric in the image of the product.',
    cure: 'Send an image of the product from the front.',
  },
  GARMENT_STRETCHED: {
    cause: 'The garment was made much longer or shorter to fit the person.',
    cure: 'Check the result.',
  },
  GARMENT_FROM_MODEL: {
    cause: 'The garment was cut off a person in the image of the product.',
    cure: 'Send an image of the garment alone.',
  },
  HEM_OUTSIDE_PICTURE: { cause: 'The garment ends below the photo.', cure: 'Use a photo that shows more of the body.' },
  PERSON_TURNED: { cause: 'The person is turned to the side.', cure: 'Use a photo from the front.' },
  RESULT_ENLARGED: {
    cause: 'With output.fullResolution, the engine drew fewer pixels than the photo has, and the result was enlarged.',
    cure: 'Check the result.',
  },
  CATEGORY_ASSUMED: {
    cause: 'Neither title nor classifications say what the product is.',
    cure: 'Send a title such as “T-shirt”, or classifications.category with the image.',
  },
  CLASSIFICATION_TYPE_IGNORED: classificationIgnored('type', GARMENT_TYPES),
  CLASSIFICATION_VIEW_IGNORED: classificationIgnored('view', VIEWS),
  CLASSIFICATION_CATEGORY_IGNORED: classificationIgnored('category', CATEGORIES),
  POSE_WITHOUT_HANDS: {
    cause: 'The worker has no hand model for this engine.',
    cure: 'Ask the operator to export the engine with the whole-body model.',
  },
  PRODUCT_IGNORED: { cause: 'product was sent in addition to products.', cure: 'Send only products.' },
  CUSTOMER_IGNORED: { cause: 'customer was sent in addition to person.', cure: 'Send only person.' },
  CUSTOMER_ID_IGNORED: {
    cause: 'customerId was sent in addition to externalUserId.',
    cure: 'Send only externalUserId.',
  },
  USE_WATERMARK_IGNORED: {
    cause: 'useWatermark was sent in addition to output.watermark.',
    cure: 'Send only output.watermark.',
  },
  RETENTION_DAYS_IGNORED: {
    cause: 'retentionDays was sent in addition to output.keepForDays.',
    cure: 'Send only output.keepForDays.',
  },
  EXTERNAL_USER_ID_IGNORED: {
    cause: 'externalUserId was sent in person, customer or output.',
    cure: 'Send externalUserId at the top level of the body, so that an erasure finds the photo and the result.',
  },
}

function classificationIgnored(key: string, known: readonly string[]): WarningEntry {
  return {
    cause: `The value of classifications.${key} is unknown, so it has no effect.`,
    cure: `Send one of ${known.join(', ')}, or omit ${key}.`,
  }
}
