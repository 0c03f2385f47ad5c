import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { crashedPostgres } from './scenarios/crashed-postgres.ts'
import { fairness } from './scenarios/fairness.ts'
import { faultyStore } from './scenarios/faulty-store.ts'
import { frozenWorkers } from './scenarios/frozen-workers.ts'
import { fullDisks } from './scenarios/full-disks.ts'
import { killedInference } from './scenarios/killed-inference.ts'
import { killedRedis } from './scenarios/killed-redis.ts'
import { killedReplicas } from './scenarios/killed-replicas.ts'
import { killedWorkers } from './scenarios/killed-workers.ts'
import { lastCredits } from './scenarios/last-credits.ts'
import { poison } from './scenarios/poison.ts'
import { recovery } from './scenarios/recovery.ts'
import { replayedKey } from './scenarios/replayed-key.ts'
import { sameProduct } from './scenarios/same-product.ts'
import { steadyLoad } from './scenarios/steady-load.ts'
import { stoppedReplicas } from './scenarios/stopped-replicas.ts'
import { stoppedWorkers } from './scenarios/stopped-workers.ts'
import { tornLinks } from './scenarios/torn-links.ts'
import { troubledPostgres } from './scenarios/troubled-postgres.ts'
import { wipedRedis } from './scenarios/wiped-redis.ts'
import { wrongClocks } from './scenarios/wrong-clocks.ts'
import { findViolations } from './support/invariants.ts'
import { type Platform, startPlatform } from './support/platform.ts'
import { createRandom } from './support/random.ts'
import { type Entry, writeReport } from './support/report.ts'
import type { Scenario } from './support/scenario.ts'

const LONG = process.env.LONG_TESTS === '1'
/** Another seed is another order of the same faults. */
const SEED = Number(process.env.FAULT_SEED ?? 1)

// By the number of workers, because each reuses those of the previous one; those that need other workers are last.
const SCENARIOS = [
  replayedKey,
  killedReplicas,
  stoppedReplicas,
  wipedRedis,
  killedRedis,
  crashedPostgres,
  troubledPostgres,
  tornLinks,
  lastCredits,
  frozenWorkers,
  killedWorkers,
  poison,
  sameProduct,
  steadyLoad,
  recovery,
  fairness,
  stoppedWorkers,
  killedInference,
  wrongClocks,
  faultyStore,
  fullDisks,
] as unknown as readonly Scenario[]

const MINUTE = 60_000
const LIMIT_MS = LONG ? 120 * MINUTE : 8 * MINUTE

describe('nothing is lost and nothing charged twice when', () => {
  let platform: Platform
  const entries: Entry[] = []
  let table = ''

  beforeAll(async () => {
    platform = await startPlatform({ random: createRandom(SEED) })
  })
  afterAll(async () => {
    console.log(table)
    await platform.stop()
  })

  for (const scenario of SCENARIOS) {
    it(`${scenario.id}: ${scenario.what}`, { timeout: LIMIT_MS }, async ({ skip }) => {
      const size = LONG ? scenario.full : scenario.quick
      const started = performance.now()
      const findings = await scenario.run({ platform, size, random: createRandom(SEED) })
      const violations = [
        ...(findings.violations ?? []),
        ...(findings.skipped ? [] : await findViolations(platform, findings.accepted)),
        ...platform.unexpectedErrors(),
      ]
      const { id, what } = scenario
      const seconds = (performance.now() - started) / 1000
      entries.push({ ...findings, id, what, seed: SEED, size, seconds, violations })
      table = await writeReport(entries)
      if (findings.skipped) skip(findings.skipped)
      expect(violations).toEqual([])
    })
  }
})
