import { pino } from 'pino'

export type Log = Pick<ReturnType<typeof pino>, 'fatal' | 'error' | 'warn' | 'info' | 'debug'> & {
  child(fields: Record<string, unknown>): Log
}

/** JSON lines on stdout. Whatever looks like a credential or a link is cut out before it is written. */
export function createLog({ process, level }: { process: string; level: string }): Log {
  return pino({
    level,
    base: { process },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    redact: {
      paths: ['apiKey', 'authorization', 'cookie', 'url', 'signature', '*.apiKey', '*.authorization', '*.url'],
      censor: '[cut]',
    },
  })
}
