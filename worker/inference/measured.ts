import { DrapeError } from '../../api/shared/contract/errors.ts'
import type { Metrics } from '../../api/shared/telemetry/metrics.ts'
import type { Inference } from './pool.ts'
import type { TryOnRequest } from './protocol.ts'

/** Wraps an inference with a counter of runs by outcome. `engine` is empty for runs without an engine. */
export function measureInference(inference: Inference, metrics: Pick<Metrics, 'counter'>): Inference {
  const runs = metrics.counter({
    name: 'drape_inference_runs_total',
    help: 'Runs of the inference process, by work, engine and outcome: done, refused (unsuitable images), failed, stopped',
    labels: ['work', 'engine', 'outcome'],
  })
  return {
    ...inference,
    run: async (work, request, options) => {
      const engine = work === 'try-on' ? (request as TryOnRequest).engine : ''
      try {
        const result = await inference.run(work, request, options)
        runs.inc({ work, engine, outcome: 'done' })
        return result
      } catch (error) {
        runs.inc({ work, engine, outcome: outcomeOf(error, options.signal) })
        throw error
      }
    },
  }
}

function outcomeOf(error: unknown, signal: AbortSignal): 'stopped' | 'refused' | 'failed' {
  if (signal.aborted) return 'stopped'
  return error instanceof DrapeError && !error.retryable ? 'refused' : 'failed'
}
