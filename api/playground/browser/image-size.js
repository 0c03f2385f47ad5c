/** Limits of the service, in pixels. */
const MIN_SIDE = 16
const MAX_SIDE = 12_000
const MAX_PIXELS = 50_000_000
const MAX_ASPECT = 10
/** Short side below which the size of a photo is the likely reason why no person was found. */
const SMALL_SIDE = 200

/**
 * Title and advice if the size of an image is the reason for the error with this code, or the likely reason; otherwise
 * null. `size` is `{ width, height }` in pixels, or null if unknown.
 */
export function explainSize(code, size) {
  if (size === null) return null
  const { width, height } = size
  const [short, long] = [Math.min(width, height), Math.max(width, height)]
  const measured = `It has ${width.toLocaleString('en')} × ${height.toLocaleString('en')} pixels`
  if (code === 'NO_PERSON_DETECTED' && short < SMALL_SIDE) {
    const advice = `The price was refunded. No person was found. ${measured}; use a photo with at least ${SMALL_SIDE} on the shorter side.`
    return { title: 'The photo is too small', advice }
  }
  if (code !== 'INVALID_IMAGE') return null
  if (short < MIN_SIDE) {
    const advice = `${measured}, and each side must have at least ${MIN_SIDE}. Use a larger image.`
    return { title: 'An image is too small', advice }
  }
  if (long > MAX_ASPECT * short) {
    const advice = `${measured}, and no side may be more than ${MAX_ASPECT} times as long as the other. Crop the image.`
    return { title: 'An image is too narrow', advice }
  }
  if (long > MAX_SIDE || width * height > MAX_PIXELS) {
    const limit = `${MAX_PIXELS / 1e6} million pixels and ${MAX_SIDE.toLocaleString('en')} on a side are allowed`
    return { title: 'An image has too many pixels', advice: `${measured}; at most ${limit}. Reduce its size.` }
  }
  return null
}
