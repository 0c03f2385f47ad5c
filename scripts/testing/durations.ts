import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import { ROOT } from '../stack/session.ts'
import type { TestReport } from '../stack/test-counts.ts'
import { userCache } from '../stack/user-cache.ts'

/** Of the user, not of the clone: a run of continuous integration, in a new clone, starts long files first. */
const PATH = userCache('test-durations.json')

/** Seconds of long files on two cores, for a machine without measurements. */
const LONG: Durations = {
  'test/faults/faults.test.ts': 500,
  'test/scripts/stack/dev.test.ts': 170,
  'test/worker/engines/warp/quality.test.ts': 140,
  'test/flow.test.ts': 115,
  'test/api/shared/retention/retention.test.ts': 100,
  'test/scripts/stack/demo.test.ts': 70,
  'test/telemetry.test.ts': 60,
  'test/start-and-stop.test.ts': 55,
  'test/safety-flow.test.ts': 55,
  'test/api/products/product-batches.routes.test.ts': 50,
  'test/api/storefront/shop-platforms/shopify-webhooks.routes.test.ts': 50,
  'test/metrics.test.ts': 45,
  'test/database-settings.test.ts': 45,
  'test/client/faults.test.ts': 45,
  'test/api/trust/consent/consent.routes.test.ts': 40,
  'test/engines-flow.test.ts': 40,
  'test/api/trust/appeals/shopper-appeal.routes.test.ts': 40,
  'test/fashn-vton-flow.test.ts': 35,
  'test/scripts/stack/postgres.test.ts': 35,
  'test/api/storefront/fitting-room/uploads.routes.test.ts': 35,
  'test/api/storefront/events/forwarding.test.ts': 35,
  'test/api/webhooks/deliver.test.ts': 35,
  'test/api/trust/receipts/receipt-mail.test.ts': 35,
  'test/scripts/commands/debug.test.ts': 30,
  'test/api/generations/generations.routes.test.ts': 30,
  'test/lanes-flow.test.ts': 30,
  'test/api/erasure/repeat-erasures.test.ts': 30,
  'test/widget/snippets.test.ts': 30,
  'test/scripts/commands/products-import.test.ts': 25,
  'test/cases/h-erasure.test.ts': 25,
  'test/encrypted-connections.test.ts': 25,
  'test/api/dashboard/owners.test.ts': 25,
}
const UNKNOWN_SECONDS = 8

/** Seconds per test file, from its last run on this machine. */
export type Durations = Readonly<Record<string, number>>

export function readDurations(): Durations {
  try {
    return JSON.parse(readFileSync(PATH, 'utf8'))
  } catch {
    return {}
  }
}

export function keepDurations({ testResults }: TestReport): void {
  const passed = testResults.filter(({ status }) => status === 'passed')
  const fresh = passed.map(({ name, startTime, endTime }) => [relative(ROOT, name), (endTime - startTime) / 1000])
  mkdirSync(dirname(PATH), { recursive: true })
  writeFileSync(PATH, JSON.stringify({ ...readDurations(), ...Object.fromEntries(fresh) }, null, 1))
}

/** The seconds that a file is expected to take. */
export function estimateSeconds(path: string, durations: Durations): number {
  return durations[path] ?? LONG[path] ?? UNKNOWN_SECONDS
}

/** Longest first, so that no worker starts a long file at the end. */
export function orderFiles(paths: readonly string[], durations: Durations): string[] {
  return paths.toSorted((a, b) => estimateSeconds(b, durations) - estimateSeconds(a, durations))
}
