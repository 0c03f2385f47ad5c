import { type DestinationStream, type LoggerOptions, pino } from 'pino'
import { activeTraceIds } from './telemetry.ts'

export type Log = Pick<ReturnType<typeof pino>, 'fatal' | 'error' | 'warn' | 'info' | 'debug'> & {
  /** Without `redact`, the child redacts what its parent does. */
  child(fields: Record<string, unknown>, options?: { redact: [] }): Log
}

/** The log of a process. */
export interface ProcessLog extends Log {
  /** Calls back when all lines have been written, or when the reader has disconnected. */
  flush(done: () => void): void
}

/**
 * JSON lines on stdout, or in `lines`. Redacts credentials and links. Batches lines for up to 100 ms. Within a span, lines carry its
 * `trace_id` and `span_id`.
 */
export function createLog({
  process: name,
  level,
  lines = openStdout(),
}: {
  process: string
  level: string
  lines?: DestinationStream
}): ProcessLog {
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

function openStdout(): DestinationStream {
  const lines = pino.destination({
    dest: process.stdout.fd,
    sync: false,
    minLength: BATCH_BYTES,
    periodicFlush: BATCH_MS,
  })
  process.on('exit', () => lines.flushSync())
  return lines
}

const BATCH_BYTES = 8192
const BATCH_MS = 100
