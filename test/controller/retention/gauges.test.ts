import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../../api/shared/telemetry/metrics.ts'
import { createRetentionGauges } from '../../../controller/retention/gauges.ts'
import { retentionPolicies } from '../../../controller/retention/resource.ts'
import type { RunReport } from '../../../controller/retention/run.ts'

describe('the gauges of retention', () => {
  const policy = readPolicy({ ttlSeconds: 3600, dryRun: false, intervalSeconds: 60 })
  const report: RunReport = {
    record: {
      policy: 'old',
      dryRun: false,
      startedAt: '2026-01-01T00:00:00Z',
      durationMs: 1500,
      objects: 12,
      held: 3,
      keysDigest: `sha256:${'0'.repeat(64)}`,
    },
    overdue: 2,
    oldestOverdueSeconds: 90,
  }
  const create = (now: () => number) => {
    const metrics = createMetrics('controller')
    const gauges = createRetentionGauges(metrics, now)
    return { gauges, read: async () => (await metrics.scrape()).text }
  }

  it('show deleted and remaining objects, and the time of the last success', async () => {
    let ms = 5000
    const { gauges, read } = create(() => ms)
    gauges.noteRun('shop/old', policy, report)
    ms = 9000
    gauges.noteRun('shop/old', policy, {
      ...report,
      record: { ...report.record, objects: 1, error: 'The disk is away.' },
    })
    const text = await read()
    const labels = 'policy="shop/old",dry_run="false"'
    for (const line of [
      `drape_retention_objects_total{${labels}} 13`,
      `drape_retention_overdue_objects{${labels}} 2`,
      `drape_retention_oldest_overdue_seconds{${labels}} 90`,
      `drape_retention_held_objects{${labels}} 3`,
      `drape_retention_interval_seconds{${labels}} 60`,
      `drape_retention_last_success_timestamp_seconds{${labels}} 5`,
      'drape_retention_runs_total{policy="shop/old",outcome="done"} 1',
      'drape_retention_runs_total{policy="shop/old",outcome="failed"} 1',
    ]) {
      expect(text.split('\n')).toContain(line)
    }
    gauges.forget('shop/old')
    expect(await read()).not.toContain('drape_retention_overdue_objects{')
  })

  it('show the time until the next scheduled run', async () => {
    const { gauges, read } = create(() => 0)
    gauges.noteRun('shop/old', readPolicy({ ttlSeconds: 3600, schedule: '0 0 * * Mon,Thu' }), report)
    // From a Thursday to a Monday.
    const line = `drape_retention_interval_seconds{policy="shop/old",dry_run="true"} ${4 * 86_400}`
    expect((await read()).split('\n')).toContain(line)
  })

  it('show sweeps of expired objects', async () => {
    const { gauges, read } = create(() => 7000)
    gauges.noteSweep(0.2, null)
    const nothing = {
      products: 0,
      idempotencyKeys: 0,
      shareLinks: 0,
      proxyNonces: 0,
      dataRequests: 0,
      erasureMarks: 0,
      erasures: 0,
    }
    gauges.noteSweep(0.2, {
      ...nothing,
      objects: 4,
      bytes: 4096,
      refusedObjects: 1,
      webhookDeliveries: 0,
      productBatches: 0,
      eventDays: 0,
    })
    const text = await read()
    // Bytes are no things that could be added to others.
    expect(text).not.toContain('kind="bytes"')
    expect(text).toMatch(/^drape_swept_total\{kind="objects"\} 4$/m)
    expect(text).toMatch(/^drape_sweep_seconds_count\{outcome="failed"\} 1$/m)
    expect(text).toMatch(/^drape_sweep_seconds_count\{outcome="done"\} 1$/m)
  })
})

function readPolicy(spec: object) {
  const read = retentionPolicies.read({ metadata: { name: 'old', namespace: 'shop' }, spec })
  if ('problems' in read) throw new Error(read.problems)
  return read.object
}
