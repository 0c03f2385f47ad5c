import { storageError } from './object.ts'

const MAX_PER_REQUEST = 1000
/** Maximum refused requests per call, and before the first deletion; beyond the latter, the whole bucket refuses. */
const MAX_REFUSALS = 100
const MAX_REFUSALS_AT_FIRST = 32

/**
 * Deletes objects by requests of at most 1000. Some servers refuse the request (403) because of one object: the request is
 * repeated with each half, so that all others are deleted. Returns the names that are not deleted, and the last refusal.
 * When the first requests are all refused, nothing else is requested, and all names are returned.
 * @throws DrapeError SERVICE_UNAVAILABLE for other errors
 */
export async function deleteAll(
  names: readonly string[],
  deleteBatch: (names: readonly string[]) => Promise<readonly string[]>,
): Promise<{ refused: string[]; cause: unknown }> {
  const refused: string[] = []
  let [refusals, deleted] = [0, 0]
  let cause: unknown = new Error('The storage names objects that it did not delete.')
  const parts: (readonly string[])[] = []
  for (let i = 0; i < names.length; i += MAX_PER_REQUEST) parts.push(names.slice(i, i + MAX_PER_REQUEST))
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (refusals >= MAX_REFUSALS) {
      refused.push(...part)
      continue
    }
    try {
      const left = await deleteBatch(part)
      refused.push(...left)
      deleted += part.length - left.length
    } catch (error) {
      if (!isRefusal(error)) throw storageError(error)
      cause = error
      if (++refusals >= MAX_REFUSALS_AT_FIRST && deleted === 0) return { refused: [...names], cause }
      const half = Math.ceil(part.length / 2)
      if (part.length === 1) refused.push(...part)
      // Last, so that adjacent refused objects do not look like a bucket that refuses everything.
      else parts.push(part.slice(0, half), part.slice(half))
    }
  }
  return { refused, cause }
}

/** A refusal of the server, which a repetition does not change. */
function isRefusal(error: unknown): boolean {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode === 403
}
