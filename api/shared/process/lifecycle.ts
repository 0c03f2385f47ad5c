import type { ProcessLog } from '../telemetry/log.ts'
import { type Host, InvalidConfiguration } from './config.ts'

const FLUSH_TIMEOUT_MS = 5000

export interface Lifecycle {
  /** Registers a cleanup. Cleanups run in reverse order of registration. */
  onStop(name: string, undo: () => unknown): void
  /** Runs all cleanups once, then exits the process. */
  stop(reason: string, exitCode?: number): Promise<void>
}

/**
 * Owns the exit of a process: SIGTERM, SIGINT and uncaught errors lead to `stop`. A stop that takes longer than
 * `graceSeconds` exits anyway.
 */
export function createLifecycle({
  log,
  graceSeconds,
  host = process,
}: {
  log: ProcessLog
  graceSeconds: number
  host?: Host
}): Lifecycle {
  const undos: { name: string; undo: () => unknown }[] = []
  let stopping: Promise<void> | null = null

  const lifecycle: Lifecycle = {
    onStop: (name, undo) => {
      undos.push({ name, undo })
    },
    stop: (reason, exitCode = 0) => {
      stopping ??= runCleanups(reason, exitCode)
      return stopping
    },
  }

  async function runCleanups(reason: string, exitCode: number): Promise<void> {
    log.info({ reason }, 'stopping')
    const deadline = setTimeout(() => {
      log.error({ graceSeconds }, 'grace period exceeded')
      end(exitCode || 1)
    }, graceSeconds * 1000)
    deadline.unref()
    for (const { name, undo } of undos.reverse()) {
      try {
        await undo()
      } catch (error) {
        log.error({ err: error, part: name }, 'component did not stop')
      }
    }
    log.info('stopped')
    end(exitCode)
  }

  /**
   * Flushes the log before the exit, because flushing at the exit never ends without a reader. Stops waiting after
   * `FLUSH_TIMEOUT_MS`: even an exit would wait for the reader again.
   */
  function end(exitCode: number): void {
    const late = setTimeout(() => process.kill(process.pid, 'SIGKILL'), FLUSH_TIMEOUT_MS)
    log.flush(() => {
      clearTimeout(late)
      host.exit(exitCode)
    })
  }

  host.once('SIGTERM', () => lifecycle.stop('SIGTERM'))
  host.once('SIGINT', () => lifecycle.stop('SIGINT'))
  host.on('uncaughtException', (error) => {
    if (error instanceof InvalidConfiguration) log.fatal(error.line)
    else log.fatal({ err: error }, 'uncaught exception')
    lifecycle.stop('uncaught exception', error instanceof InvalidConfiguration ? 2 : 1)
  })
  host.on('unhandledRejection', (error) => {
    log.fatal({ err: error }, 'unhandled rejection')
    lifecycle.stop('unhandled rejection', 1)
  })
  return lifecycle
}
