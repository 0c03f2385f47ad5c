import { setImmediate } from 'node:timers/promises'
import type { Generations } from '../shared/generations/generations.store.ts'

/**
 * Finds generations: calls of one turn of the event loop share a statement. It starts after the turn, so that each caller
 * reads its own writes.
 */
export function findTogether(findMany: Generations['findMany']): Generations['find'] {
  const ids = new Set<string>()
  const findAfterTurn = async () => {
    await setImmediate()
    const gathered = [...ids]
    ids.clear()
    return new Map((await findMany(gathered)).map((generation) => [generation.id, generation]))
  }
  let found: ReturnType<typeof findAfterTurn>
  return async (id) => {
    if (ids.size === 0) found = findAfterTurn()
    ids.add(id)
    return (await found).get(id) ?? null
  }
}
