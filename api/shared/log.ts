import { type LoggerOptions, pino } from 'pino'
import { activeTraceIds } from './telemetry.ts'

export type Log = Pick<ReturnType<typeof pino>, 'fatal' | 'error' | 'warn' | 'info' | 'debug'> & {
  child(fields: Record<string, unknown>): Log
}

/** The log of a process. */
export interface ProcessLog extends Log {
  /** Calls back when what was logged has been written, or its reader has gone. */
  flush(done: () => void): void
}

/**
 * JSON lines on stdout. Whatever looks like a credential or a link is cut out before it is written. Lines that come close
 * together are written together, up to a tenth of a second later. Within a span they carry its `trace_id` and `span_id`.
 */
export function createLog({ process: name, level }: { process: string; level: string }): ProcessLog {
  const lines = pino.destination({
    dest: process.stdout.fd,
    sync: false,
    minLength: TOGETHER_BYTES,
    periodicFlush: TOGETHER_MS,
  })
  process.on('exit', () => lines.flushSync())
  const options: LoggerOptions = {
    level,
    base: { process: name },
    mixin: activeTraceIds,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['apiKey', 'authorization', 'cookie', 'url', 'signature', '*.apiKey', '*.authorization', '*.url'],
      censor: '[cut]',
    },
  }
  return pino(options, lines)
}

const TOGETHER_BYTES = 8192
const TOGETHER_MS = 100
