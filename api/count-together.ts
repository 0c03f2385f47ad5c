export interface Counted {
  /** Of the requests so far, this one included. */
  readonly total: number
  /** Until they are counted from nothing again. */
  readonly resetSeconds: number
}

interface Batch {
  requests: number
  counted: Promise<Counted>
}

/**
 * Counts one request of a caller; those that come while the caller's counter is being asked are counted at once, by its next
 * answer. Each hears the same total as if every request had been counted alone, in the order in which they came.
 */
export function countTogether(
  count: (id: string, requests: number) => Promise<Counted>,
): (id: string) => Promise<Counted> {
  /** Those that can still be joined. */
  const gathering = new Map<string, Batch>()
  const asked = new Map<string, Promise<unknown>>()

  async function askAfter(last: Promise<unknown> | undefined, id: string): Promise<Counted> {
    await last?.catch(() => {})
    const batch = gathering.get(id)
    gathering.delete(id)
    return count(id, batch?.requests ?? 0)
  }

  function gather(id: string): Batch {
    const counted = askAfter(asked.get(id), id)
    const forget = () => asked.get(id) === counted && asked.delete(id)
    counted.then(forget, forget)
    asked.set(id, counted)
    const batch = { requests: 0, counted }
    gathering.set(id, batch)
    return batch
  }

  return async (id) => {
    const batch = gathering.get(id) ?? gather(id)
    batch.requests++
    const place = batch.requests
    const { total, resetSeconds } = await batch.counted
    return { total: total - batch.requests + place, resetSeconds }
  }
}
