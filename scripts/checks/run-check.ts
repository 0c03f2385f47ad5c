import { type Options, UsageError } from '../command-options.ts'
import { checkApi } from './api.ts'
import { checkDashboards } from './dashboards.ts'
import { checkMetrics } from './metrics.ts'
import { checkMigrations } from './migrations.ts'
import { checkStorage } from './storage.ts'
import { checkQueue, checkTryOn } from './try-on.ts'
import { within } from './within.ts'
import { checkWorkers } from './workers.ts'

export type Check = (options: Options) => Promise<Record<string, unknown>>

const CHECKS: Readonly<Record<string, Check>> = {
  migrations: checkMigrations,
  api: checkApi,
  workers: checkWorkers,
  storage: checkStorage,
  queue: checkQueue,
  'try-on': checkTryOn,
  metrics: checkMetrics,
  dashboards: checkDashboards,
}

/** Runs the check of that name until it holds. Throws what it found when it does not hold in time. */
export async function runCheck(name: string, options: Options): Promise<Record<string, unknown>> {
  const check = CHECKS[name]
  if (check === undefined) throw new UsageError(`there is no check "${name}"`)
  return within(options, 0, () => check(options))
}
