import { expect, it } from 'vitest'
import { DrapeError } from '../../../api/shared/contract/errors.ts'
import { createMetrics } from '../../../api/shared/telemetry/metrics.ts'
import { measureInference } from '../../../worker/inference/measured.ts'
import type { Inference } from '../../../worker/inference/pool.ts'

it('counts engine runs by outcome', async () => {
  const metrics = createMetrics('worker')
  let end: () => Promise<never> = async () => Promise.reject(new Error('not set'))
  const inference = measureInference(
    {
      run: () => end(),
      evict: () => {},
      countReady: () => 1,
      problem: () => null,
      stop: async () => {},
      findWaiting: () => [],
      downloadSeconds: () => null,
    } as Inference,
    metrics,
  )
  const stopped = AbortSignal.abort(new Error('the deadline has passed'))
  const run = (signal = new AbortController().signal) =>
    inference.run('try-on', { engine: 'warp' } as never, { signal, onProgress: () => {} }).catch(() => {})
  end = async () => ({}) as never
  await run()
  end = () => Promise.reject(new DrapeError('NO_PERSON_DETECTED', 'The photo shows no person.'))
  await run()
  end = () => Promise.reject(new DrapeError('GENERATION_FAILED', 'The process ended.', { retryable: true }))
  await run()
  await run(stopped)
  const { text } = await metrics.scrape()
  for (const outcome of ['done', 'refused', 'failed', 'stopped']) {
    expect(text).toContain(`drape_inference_runs_total{work="try-on",engine="warp",outcome="${outcome}"} 1`)
  }
})
