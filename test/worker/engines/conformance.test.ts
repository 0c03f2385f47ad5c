import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConformance } from '../../../worker/engines/conformance.ts'
import { findInstalled } from '../../../worker/engines/installed.ts'
import { createEngines } from '../../../worker/engines/registry.ts'
import type { Models } from '../../../worker/inference/models.ts'
import { readWorkerConfig } from '../../../worker/job/config.ts'
import { changeEngineManifest, copyTinyEngine } from '../../support/tiny-engine.ts'
import { sharedModels } from '../../support/vision.ts'

const NAME = 'fashn-vton'

let models: Models
let directory: string
beforeAll(async () => {
  models = await sharedModels()
  directory = await mkdtemp(join(tmpdir(), 'drape-conformance-'))
})
afterAll(async () => {
  await rm(directory, { recursive: true, force: true })
})

type Golden = { golden?: number[] }

/** Result of the self-test of the tiny engine, with a changed manifest and these variables. */
async function prove(change: (manifest: Golden) => void, env: Parameters<typeof readConformance>[0]): Promise<void> {
  const at = await mkdtemp(join(directory, 'copy-'))
  await copyTinyEngine(join(at, NAME))
  await changeEngineManifest(join(at, NAME), change)
  const known = await findInstalled([NAME], at)
  const engine = (await createEngines([NAME], { models, known, conformanceOf: readConformance(env) })).get(NAME)
  try {
    await engine?.selfTest?.()
  } finally {
    await engine?.release?.()
  }
}

/** Golden values that a drawing is 4 % away from. */
const moved = (manifest: Golden) => {
  manifest.golden = manifest.golden?.map((value) => value * 1.04)
}
const removed = (manifest: Golden) => {
  delete manifest.golden
}

describe('the self-test of an engine', () => {
  it('requires the golden drawing within 2 % or the configured tolerance', async () => {
    await expect(prove(moved, {})).rejects.toThrow(/differs from the golden drawing of its export by 3.8 %/)
    await expect(prove(moved, { SELF_TEST_TOLERANCE: 'other=20' })).rejects.toThrow('differs')
    await expect(prove(moved, { SELF_TEST_TOLERANCE: 'other=1,fashn-vton=5' })).resolves.toBeUndefined()
  })

  it('requires a golden drawing only if configured', async () => {
    await expect(prove(removed, { SELF_TEST_GOLDEN: 'other' })).resolves.toBeUndefined()
    await expect(prove(removed, { SELF_TEST_GOLDEN: 'fashn-vton' })).rejects.toThrow('contains no golden drawing')
  })

  it.each(['fashn-vton', 'fashn-vton=0', 'fashn-vton=21', 'a=1,', '=3'])('rejects the tolerance %s', (value) => {
    expect(() => readWorkerConfig({ SELF_TEST_TOLERANCE: value })).toThrow(/SELF_TEST_TOLERANCE/)
  })
})
