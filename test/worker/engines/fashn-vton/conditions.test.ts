import { readFile } from 'node:fs/promises'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { type Conditions, createConditions } from '../../../../worker/engines/fashn-vton/conditions.ts'
import { type Graphs, openGraphs } from '../../../../worker/engines/fashn-vton/graphs.ts'
import type { FashnVtonManifest } from '../../../../worker/engines/fashn-vton/manifest.ts'
import type { Session } from '../../../../worker/inference/session.ts'
import { createBytes } from '../../../../worker/vision/raster/bytes.ts'

const ENGINE = new URL('../../../fixtures/fashn-vton/engine/', import.meta.url)

describe('the conditions of FASHN VTON', async () => {
  const manifest: FashnVtonManifest = JSON.parse(await readFile(new URL('engine.json', ENGINE), 'utf8'))
  const graphs: Graphs = await openGraphs(ENGINE.pathname, manifest, 'cpu')
  let conditions: Conditions
  let runs: Record<string, number>
  beforeEach(() => {
    const counted = countRuns(graphs, ['person', 'garment', 'modulation'])
    runs = counted.runs
    conditions = createConditions(counted.graphs, manifest)
  })
  afterAll(() => graphs.release())

  const blank = { bitmap: createBytes(manifest.size, 3), skeleton: createBytes(manifest.size, 1) }

  it('compute step vectors once per schedule and category', async () => {
    for (let i = 0; i < 3; i++) await conditions.plan('fast', 'tops')
    expect(runs.modulation).toBe(20)
    await conditions.plan('fast', 'bottoms')
    await conditions.plan('balanced', 'tops')
    expect(runs.modulation).toBe(20 + 20 + 30)
    await conditions.plan('fast', 'tops')
    expect(runs.modulation).toBe(70)
  })

  it('compute the unconditional rows once', async () => {
    for (let i = 0; i < 3; i++) await conditions.nothing()
    expect(runs).toEqual({ person: 1, garment: 1, modulation: 0 })
  })

  it('compute a product once until evicted, and a person every time', async () => {
    for (let i = 0; i < 3; i++) await conditions.garment('a1', async () => blank)
    await conditions.garment('b2', async () => blank)
    expect(runs.garment).toBe(2)
    expect(conditions.cache.count()).toBe(2)
    conditions.cache.evict('a1')
    expect(conditions.cache.count()).toBe(1)
    await conditions.garment('a1', async () => blank)
    expect(runs.garment).toBe(3)
    for (let i = 0; i < 3; i++) await conditions.person(blank)
    expect(runs.person).toBe(3)
    expect(conditions.cache.count()).toBe(2)
  })
})

/** The same graphs; counts the runs of the named ones. */
function countRuns<G extends object, N extends keyof G & string>(
  graphs: G & Readonly<Record<N, Session>>,
  names: readonly N[],
): { graphs: G; runs: Record<string, number> } {
  const runs: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]))
  const counted = names.map((name) => [
    name,
    {
      ...graphs[name],
      run: (...args: Parameters<Session['run']>) => {
        runs[name]++
        return graphs[name].run(...args)
      },
    },
  ])
  return { graphs: { ...graphs, ...Object.fromEntries(counted) }, runs }
}
