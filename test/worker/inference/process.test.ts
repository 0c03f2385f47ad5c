import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLog } from '../../../api/shared/log.ts'
import { createInferenceHost, type InferenceHost } from '../../../worker/inference/host.ts'
import { AGE_MODEL } from '../../../worker/safety/age.ts'
import { until } from '../../support/until.ts'

const MODELS = resolve(import.meta.dirname, '../../../worker/models')

describe('an inference process with AGE_CHECK', () => {
  let folder: string
  let host: InferenceHost
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-models-'))
    await cp(MODELS, folder, { recursive: true })
  })
  afterEach(async () => {
    await host.stop()
    await rm(folder, { recursive: true })
  })

  const start = () => {
    host = createInferenceHost({
      program: new URL('../../../worker/inference/process.ts', import.meta.url),
      env: { ENGINES: 'mock', MODEL_DIR: folder, EXECUTION_PROVIDER: 'cpu', AGE_CHECK: 'true' },
      workSeconds: 10,
      log: createLog({ process: 'worker', level: 'silent' }),
      onReady: () => {},
      onRestart: () => {},
    })
    return until(() => host.problem() ?? (host.isReady() && 'ready'))
  }

  it('is not ready without the file of the age model', async () => {
    await rm(join(folder, 'age.onnx'))
    expect(await start()).toBe(`${join(folder, 'age.onnx')}: cannot be read`)
  })

  it('is not ready if the manifest of an earlier version does not list the age model', async () => {
    const path = join(folder, 'manifest.json')
    const { models, ...others } = JSON.parse(await readFile(path, 'utf8'))
    const known = models.filter(({ name }: { name: string }) => name !== AGE_MODEL)
    await writeFile(path, JSON.stringify({ ...others, models: known }))
    expect(await start()).toBe(`${path}: has no model "age"`)
  })
})
