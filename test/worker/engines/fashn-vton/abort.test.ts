import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createLog } from '../../../../api/shared/telemetry/log.ts'
import { createInferenceHost, type InferenceHost } from '../../../../worker/inference/host.ts'
import type { TryOnRequest } from '../../../../worker/inference/protocol.ts'
import { readSample } from '../../../support/drape.ts'
import { changeEngineManifest, copyTinyEngine } from '../../../support/tiny-engine.ts'
import { until } from '../../../support/until.ts'

let folder: string
let host: InferenceHost
let restarts = 0

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'drape-abort-'))
  await copyTinyEngine(join(folder, 'fashn-vton'))
  // Enough steps that the abort arrives long before the last one.
  await changeEngineManifest(join(folder, 'fashn-vton'), ({ sampling }) => {
    sampling.steps.quality = 1000
  })
  const root = resolve(import.meta.dirname, '../../../..')
  host = createInferenceHost({
    program: new URL('../../../../worker/inference/process.ts', import.meta.url),
    env: {
      ENGINES: 'fashn-vton',
      ENGINE_DIR: folder,
      EXECUTION_PROVIDER: 'cpu',
      MODEL_DIR: join(root, 'worker/models'),
    },
    workSeconds: 100,
    log: createLog({ process: 'worker', level: 'silent' }),
    onReady: () => {},
    onRestart: () => {
      restarts++
    },
  })
  await until(() => host.isReady())
})
afterAll(async () => {
  await host.stop()
  await rm(folder, { recursive: true, force: true })
})

it('stops between two steps on abort, and continues with other work', async () => {
  const [photo, garment] = await Promise.all([
    readSample('persons/down-half-teal.jpg'),
    readSample('garments/tshirt-navy.jpg'),
  ])
  const request: TryOnRequest = {
    engine: 'fashn-vton',
    photo,
    garment,
    garmentHash: 'shirt',
    crop: 'none',
    logo: null,
    product: { title: 'T-shirt', description: null, classifications: null },
    options: { watermark: false, seed: 1, mode: 'quality', format: 'jpeg', fullResolution: false },
  }
  const abort = new AbortController()
  let last = 0
  const onProgress = (share: number) => {
    last = share
    if (share > 0.2) abort.abort(new Error('the deadline has passed'))
  }
  await expect(host.run('try-on', request, { signal: abort.signal, onProgress })).rejects.toThrow('the deadline')
  expect(last).toBeLessThan(0.9)
  const quick: TryOnRequest = { ...request, options: { ...request.options, mode: 'fast' } }
  const never = new AbortController().signal
  const { engine } = await host.run('try-on', quick, { signal: never, onProgress: () => {} })
  expect(engine.name).toBe('fashn-vton')
  expect(restarts).toBe(0)
})
