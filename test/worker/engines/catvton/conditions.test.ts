import { readFile } from 'node:fs/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { createConditions } from '../../../../worker/engines/catvton/conditions.ts'
import { openGraphs } from '../../../../worker/engines/catvton/graphs.ts'
import type { CatVtonManifest } from '../../../../worker/engines/catvton/manifest.ts'
import { createBytes } from '../../../../worker/engines/diffusion/bytes.ts'
import { createPlane } from '../../../../worker/raster/plane.ts'
import { countRuns } from '../../../support/counted-runs.ts'

const ENGINE = new URL('../../../fixtures/catvton/engine/', import.meta.url)

describe('the conditions of CatVTON', async () => {
  const manifest: CatVtonManifest = JSON.parse(await readFile(new URL('engine.json', ENGINE), 'utf8'))
  const opened = await openGraphs(ENGINE.pathname, manifest, { provider: 'cpu' })
  afterAll(() => opened.release())

  it('encode a product once until evicted, and a person every time', async () => {
    const { graphs, runs } = countRuns(opened, ['encoder', 'decoder', 'denoiser'])
    const conditions = createConditions(graphs, manifest)
    const blank = createBytes(manifest.size, 3)
    for (let i = 0; i < 3; i++) {
      await conditions.garment('a1', async () => blank)
      await conditions.person(blank, createPlane(manifest.size, 1))
      conditions.steps('quality')
    }
    expect(runs).toEqual({ encoder: 1 + 3, decoder: 0, denoiser: 0 })
    expect(conditions.cache.count()).toBe(1)
    conditions.cache.evict('a1')
    expect(conditions.cache.count()).toBe(0)
    await conditions.garment('a1', async () => blank)
    expect(runs.encoder).toBe(5)
  })

  it('contain the unmasked person, and the first pixel of each mask cell', async () => {
    const conditions = createConditions(opened, manifest)
    const { width, height } = manifest.size
    const [dark, light] = [0, 255].map((value) => ({
      ...createBytes(manifest.size, 3),
      data: new Uint8Array(3 * width * height).fill(value),
    }))
    const all = createPlane(manifest.size, 1)
    expect((await conditions.person(dark, all)).latent).toEqual((await conditions.person(light, all)).latent)
    const corner = createPlane(manifest.size)
    corner.data[8 * width + 16] = 1
    corner.data[9 * width + 24] = 1
    const { mask } = await conditions.person(dark, corner)
    expect(mask.shape).toEqual([1, 1, height / 8, width / 8])
    expect([...mask.data.keys()].filter((i) => mask.data[i] === 1)).toEqual([width / 8 + 2])
  })
})
