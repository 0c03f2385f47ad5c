import { rm, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Type } from '../../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../../api/shared/database/database.ts'
import { createPoolRegistry } from '../../../api/shared/engines/pool-registry.ts'
import { createRedis } from '../../../api/shared/queue/redis.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { readSample, readSmallPerson, startDrape } from '../../support/drape.ts'
import { linesOf } from '../../support/process.ts'
import { until } from '../../support/until.ts'

const FAILURE =
  'Non-zero status code returned while running Conv node. Status Message: CUDA failure 700: an illegal memory access was encountered ; GPU=0 ; expr=cudaStreamSynchronize(stream)'
const PRELOAD = new URL('../../support/failing-gpu.ts', import.meta.url)

const AttemptRow = rowType(Type.Object({ status: Type.String(), attempt: Type.Integer() }))

describe('a worker with a failing device', async () => {
  const failure = join(tmpdir(), `drape-failing-gpu-${process.pid}`)
  const onDevice = {
    EXECUTION_PROVIDER: 'cuda',
    NODE_OPTIONS: `--import=${PRELOAD}`,
    CUDA_TEST_FAILURE: failure,
  }

  const drape = await startDrape()
  const redis = createRedis(drape.env.REDIS_URL, {
    role: 'consumer',
    log: createLog({ process: 'test', level: 'silent' }),
  })
  afterAll(async () => {
    await rm(failure, { force: true })
    await redis?.close()
    await drape?.stop()
  })

  const tryOn = async () =>
    drape.tryOn(
      {
        products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
        person: { image: { source: { fileKey: 'me' } } },
        output: { engine: 'mock' },
      },
      { me: await readSmallPerson(), shirt: await readSample('garments/tshirt-navy.jpg') },
    )
  const attemptOf = (id: string) =>
    drape.database.one(sql.type(AttemptRow)`select status, attempt from generations where id = ${id}`)
  const metricsOf = async ({ probeUrl }: { probeUrl: string }) => (await fetch(`${probeUrl}/metrics`)).text()

  it('takes jobs again after one fault, which uses no attempt', async () => {
    await writeFile(failure, FAILURE)
    const worker = await drape.startWorker(onDevice)
    const id = await tryOn()
    await until(() => linesOf(worker.output()).some(({ msg }) => msg === 'the device failed'))
    await rm(failure)
    await drape.finish(id)
    expect(await attemptOf(id)).toEqual({ status: 'COMPLETED', attempt: 1 })
    expect(await metricsOf(worker)).toMatch(/drape_device_faults_total{reason="DeviceError"} [1-3]\n/)
    await worker.end()
  })

  it('fences itself in a pool, reports the reason, and leaves jobs to other workers', async () => {
    await writeFile(failure, FAILURE)
    const sick = await drape.startWorker({ ...onDevice, POOL: 'default/gpu' })
    const ids = [await tryOn(), await tryOn(), await tryOn()]
    const registry = createPoolRegistry(redis)
    const report = await until(async () => {
      const found = (await registry.findWorkers()).get(hostname())
      return found?.sick && found
    })
    expect(report.sick).toMatchObject({ reason: 'DeviceError', message: expect.stringContaining('CUDA failure 700') })
    const readiness = await fetch(`${sick.probeUrl}/readyz`)
    expect(readiness.status).toBe(503)
    const healthy = await drape.startWorker()
    await Promise.all(ids.map((id) => drape.finish(id)))
    expect(await Promise.all(ids.map(attemptOf))).toEqual(ids.map(() => ({ status: 'COMPLETED', attempt: 1 })))
    await Promise.all([sick.end(), healthy.end()])
  })

  it('exits without a pool to replace it', async () => {
    await writeFile(failure, FAILURE)
    const worker = await drape.startWorker(onDevice)
    const ids = [await tryOn(), await tryOn()]
    expect(await worker.ended).toBe(1)
    await rm(failure)
    await drape.startWorker(onDevice)
    await Promise.all(ids.map((id) => drape.finish(id)))
    expect(await Promise.all(ids.map(attemptOf))).toEqual(ids.map(() => ({ status: 'COMPLETED', attempt: 1 })))
  })
})
