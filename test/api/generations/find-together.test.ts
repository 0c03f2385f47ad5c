import { describe, expect, it } from 'vitest'
import { acceptGeneration } from '../../../api/generations/acceptance.store.ts'
import { findTogether } from '../../../api/generations/find-together.ts'
import { createGenerations } from '../../../api/shared/generations/generations.store.ts'
import { callOf, createCaller } from '../../support/accepted.ts'
import { openTestDatabase } from '../../support/postgres.ts'

describe('generations that are found together', async () => {
  const { database } = await openTestDatabase({ poolSize: 2 })
  const stored = createGenerations(database)

  function createFinder() {
    const statements: (readonly string[])[] = []
    const find = findTogether((ids) => {
      statements.push(ids)
      return stored.findMany(ids)
    })
    return { find, statements }
  }
  async function insertGeneration(): Promise<string> {
    const call = callOf(await createCaller(database, 1))
    await acceptGeneration(database, call)
    return call.generationId
  }

  it('finds those of one turn with one statement, each for its caller', async () => {
    const ids = [await insertGeneration(), await insertGeneration(), 'gen_unknown']
    const { find, statements } = createFinder()
    const found = await Promise.all([...ids, ids[0]].map(find))
    expect(found.map((generation) => generation?.id ?? null)).toEqual([ids[0], ids[1], null, ids[0]])
    expect(found[1]).toEqual(await stored.find(ids[1]))
    expect(statements).toEqual([ids])
  })

  it('never answers from a statement that began before the call', async () => {
    const id = await insertGeneration()
    const { find, statements } = createFinder()
    const first = find(id)
    while (statements.length === 0) await new Promise(setImmediate)
    await stored.start({ id, attempt: 1, worker: 'w' })
    expect(await find(id)).toMatchObject({ status: 'PROCESSING' })
    expect((await first)?.id).toBe(id)
    expect(statements).toHaveLength(2)
  })

  it('throws the failure of the statement to each caller, and finds again', async () => {
    let isBroken = true
    const find = findTogether((ids) => (isBroken ? Promise.reject(new Error('broken')) : stored.findMany(ids)))
    const id = await insertGeneration()
    const outcomes = await Promise.allSettled([find(id), find('gen_other')])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    isBroken = false
    expect((await find(id))?.id).toBe(id)
  })
})
