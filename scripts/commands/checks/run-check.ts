import type { Options } from '../options.ts'
import { checkApi } from './api.ts'
import { checkLedger } from './ledger.ts'
import { checkMetrics } from './metrics.ts'
import { checkMigrations } from './migrations.ts'
import { checkStorage } from './storage.ts'
import { checkQueue, checkTryOn } from './try-on.ts'
import { within } from './within.ts'
import { checkWorkers } from './workers.ts'

const CHECKS = {
  migrations: checkMigrations,
  api: checkApi,
  workers: checkWorkers,
  storage: checkStorage,
  ledger: checkLedger,
  queue: checkQueue,
  'try-on': checkTryOn,
  metrics: checkMetrics,
} satisfies Record<string, (options: Options) => Promise<Record<string, unknown>>>

export type CheckName = keyof typeof CHECKS

/** Runs the check until it succeeds. Throws the last failure after a timeout. */
export function runCheck(name: CheckName, options: Options): Promise<Record<string, unknown>> {
  return within(options, 0, () => CHECKS[name](options))
}
