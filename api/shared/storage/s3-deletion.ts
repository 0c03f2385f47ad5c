import { storageError } from './object.ts'

const MAX_PER_REQUEST = 1000
/** Maximum refused requests per call, and before the first deletion; beyond the latter, the whole bucket refuses. */
const MAX_REFUSALS = 100
const MAX_REFUSALS_AT_FIRST = 32

/** A way to delete objects. Returns the names that the server refused. Throws the error of the server. */
export interface DeletionWay {
  readonly name: string
  readonly deleteBatch: (names: readonly string[]) => Promise<readonly string[]>
}

/**
 * Deletes objects in the first way that their server accepts. Calls back with the reason when it falls back to a later way, which
 * it then keeps.
 */
export function createDeletion(ways: readonly DeletionWay[], onFallback: (reason: string) => void) {
  let accepted = 0

  async function deleteBatch(names: readonly string[], way = accepted): Promise<readonly string[]> {
    try {
      const refused = await ways[way].deleteBatch(names)
      accepted = Math.max(accepted, way)
      return refused
    } catch (error) {
      if (!isUnsupported(error) || way + 1 === ways.length) throw error
      const refused = await deleteBatch(names, way + 1)
      // Only now: a server that rejects every way does not lack this one.
      onFallback(
        `The object storage rejects ${ways[way].name} (${describe(error)}): objects are deleted with ${ways[accepted].name}.`,
      )
      return refused
    }
  }

  return (names: readonly string[]) => deleteAll(names, deleteBatch)
}

/** Whether the server does not know the request or one of its headers. */
export function isUnsupported(error: unknown): boolean {
  const status = statusOf(error) ?? 0
  return status === 501 || (status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status))
}

function describe(error: unknown): string {
  const { name, message } = error as Error
  return `${statusOf(error) ?? 'no answer'} ${name === 'Error' ? message : name}`
}

/** HTTP status of an error of the server. */
export function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
}

/**
 * Deletes objects by requests of at most 1000. Some servers refuse the request (403) because of one object: the request is
 * repeated with each half, so that all others are deleted. Returns the names that are not deleted, and the last refusal.
 * When the first requests are all refused, nothing else is requested, and all names are returned.
 * @throws DrapeError SERVICE_UNAVAILABLE for other errors
 */
async function deleteAll(
  names: readonly string[],
  deleteBatch: DeletionWay['deleteBatch'],
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
      if (!isRefusal(error))
        throw storageError(new Error(`Objects are not deleted: ${describe(error)}`, { cause: error }))
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

/** Whether the server refuses the request, which a repetition does not change. */
export function isRefusal(error: unknown): boolean {
  return statusOf(error) === 403
}
