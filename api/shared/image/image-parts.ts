/** Of one image. Photos have a few dozen; encoders of PNG write 8 KB into each chunk. */
const MAX_PARTS = 10_000

/**
 * Creates a function that counts segments, chunks or boxes of an image: a file of 10 MB can have a million empty ones,
 * which take seconds of processor time. It throws a RangeError for more than 10,000.
 */
export function createPartCounter(): () => void {
  let parts = 0
  return () => {
    if (++parts > MAX_PARTS) throw new RangeError(`more than ${MAX_PARTS} parts`)
  }
}
