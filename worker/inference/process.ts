import { splitList } from '../../api/shared/config.ts'
import { DrapeError } from '../../api/shared/errors.ts'
import { createEngines } from '../engines/registry.ts'
import { preparePhoto } from '../prepare-photo.ts'
import { tryOn } from '../try-on.ts'
import { openModels } from './models.ts'
import type { Failure, FromProcess, ToProcess } from './protocol.ts'
import { runSelfTest } from './self-test.ts'
import { PROVIDERS, type Provider } from './session.ts'

// The inference process: a child of the worker. It opens the models, proves itself, and does one piece of work at a time.

const provider = PROVIDERS.find((known) => known === process.env.EXECUTION_PROVIDER)
if (!provider) throw new Error(`EXECUTION_PROVIDER must be one of ${PROVIDERS.join(', ')}`)
const models = await openModels(process.env.MODEL_DIR ?? '', { provider: provider satisfies Provider })
const engines = createEngines(splitList(process.env.ENGINES ?? ''), { models })
const aborts = new Map<number, AbortController>()

function send(message: FromProcess): void {
  process.send?.(message)
}

process.on('message', (message: ToProcess) => {
  if (message.type === 'abort') aborts.get(message.id)?.abort()
  else run(message)
})
// A worker that is gone leaves nobody to work for.
process.on('disconnect', () => process.exit(0))

async function run({ id, work, request }: Extract<ToProcess, { type: 'run' }>): Promise<void> {
  const abort = new AbortController()
  aborts.set(id, abort)
  const context = { signal: abort.signal, onProgress: (share: number) => send({ type: 'progress', id, share }) }
  try {
    const result =
      work === 'prepare'
        ? await preparePhoto(request as never, { models })
        : await tryOn(request as never, { models, engines, ...context })
    send({ type: 'done', id, result })
  } catch (error) {
    send({ type: 'failed', id, error: failureOf(error) })
  } finally {
    aborts.delete(id)
  }
}

function failureOf(error: unknown): Failure {
  if (error instanceof DrapeError) {
    return { code: error.code, message: error.message, details: error.details, retryable: error.retryable }
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  return { code: null, message, stack, retryable: true }
}

await runSelfTest({ models, engines })
send({ type: 'ready' })
