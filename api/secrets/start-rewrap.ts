import type { Log } from '../shared/telemetry/log.ts'
import type { StoredSecrets } from './stored-secrets.store.ts'

const INTERVAL_MS = 60_000

/**
 * Encrypts stored secrets with the current key, first `delaySeconds` after the start: by then, no process with an
 * earlier version or configuration, which could not decrypt them, is running. Then repeats every minute, for secrets
 * from other sources.
 */
export function startRewrap(
  { stored, delaySeconds }: { readonly stored: Pick<StoredSecrets, 'rewrap'>; readonly delaySeconds: number },
  log: Log,
): { stop(): Promise<void> } {
  let running = Promise.resolve()
  let isStopped = false
  let timer: NodeJS.Timeout
  const rewrap = async () => {
    try {
      const count = await stored.rewrap()
      if (count > 0) log.info({ count }, 'secrets encrypted with the current key')
    } catch (error) {
      log.error({ err: error }, 'encrypting secrets with the current key failed')
    }
    if (!isStopped) schedule(INTERVAL_MS)
  }
  const schedule = (ms: number) => {
    timer = setTimeout(() => {
      running = rewrap()
    }, ms)
    timer.unref()
  }
  schedule(delaySeconds * 1000)
  return {
    stop: () => {
      isStopped = true
      clearTimeout(timer)
      return running
    },
  }
}
