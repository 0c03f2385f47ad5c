import { setImmediate } from 'node:timers/promises'
import type { GenerationRecord, Generations } from '../shared/generations/generations.store.ts'

/**
 * Finds generations: calls of one turn of the event loop share a statement. It starts after the turn, so that each caller
 * reads its own writes.
 */
export function findTogether(findMany: Generations['findMany']): Generations['find'] {
  let ids: Set<string> | null = null
  let found: Promise<ReadonlyMap<string, GenerationRecord>>

  async function findAfterTurn(gathered: ReadonlySet<string>) {
    await setImmediate()
    ids = null
    return new Map((await findMany([...gathered])).map((generation) => [generation.id, generation]))
  }

  return async (id) => {
    if (ids === null) {
      ids = new Set()
      found = findAfterTurn(ids)
    }
    ids.add(id)
    return (await found).get(id) ?? null
  }
}
