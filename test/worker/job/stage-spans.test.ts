import { trace } from '@opentelemetry/api'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { startTelemetry, type Telemetry } from '../../../api/shared/telemetry/telemetry.ts'
import { recordStages } from '../../../worker/job/stage-spans.ts'
import { type OtlpReceiver, startOtlpReceiver } from '../../support/otlp-receiver.ts'

let receiver: OtlpReceiver
let telemetry: Telemetry
beforeAll(async () => {
  receiver = await startOtlpReceiver()
  for (const [name, value] of Object.entries(receiver.env)) vi.stubEnv(name, value)
  // As another file of the process that has stopped its own.
  trace.disable()
  telemetry = await startTelemetry({ service: 'worker', env: receiver.env, onFault: () => {} })
})
afterAll(() => {
  vi.unstubAllEnvs()
  // Files share a process, in which only the first provider counts.
  trace.disable()
  receiver.stop()
})

it('records the stages of a try-on one after another, those of the engine within it', async () => {
  const ended = 1_800_000_000_000
  const inner = { region: 20, denoise: 40, 'vae-decode': 15 }
  recordStages({ decode: 10, safety: 5, engine: 80, composite: 7, encode: 3, ...inner }, ended)
  await telemetry.stop()
  const start = BigInt(ended - 105) * 1_000_000n
  const spans = receiver.spans().map(({ name, start: from, end }) => ({
    name,
    ms: [from, end].map((at) => Number((at - start) / 1_000_000n)),
  }))
  expect(Object.fromEntries(spans.map(({ name, ms }) => [name, ms]))).toEqual({
    decode: [0, 10],
    safety: [10, 15],
    engine: [15, 95],
    composite: [95, 102],
    encode: [102, 105],
    region: [15, 35],
    denoise: [35, 75],
    'vae-decode': [75, 90],
  })
})
