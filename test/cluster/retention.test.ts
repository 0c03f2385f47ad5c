import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../api/shared/database/database.ts'
import { createObjects } from '../../api/shared/storage/objects.store.ts'
import { type RetentionPolicy, retentionPolicies, type Sweep, sweeps } from '../../controller/retention/resource.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { type Drape, startDrape } from '../support/drape.ts'
import { startProgram, type TestProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createTestNamespace, type TestNamespace } from './namespace.ts'
import { installDefinitions } from './samples.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

const controlPlane = await findSharedControlPlane()
const DAY = 86_400
const EVENTS = { group: '', version: 'v1', plural: 'events', kind: 'Event', namespaced: true }

describe.skipIf(controlPlane === null)('a retention policy', () => {
  let place: TestNamespace
  let drape: Drape
  let controller: TestProgram

  const apply = (spec: object, name = 'days') =>
    place.client.apply(retentionPolicies.type, { metadata: { namespace: place.namespace, name }, spec })
  const status = async (policy = 'days') => {
    const name = { namespace: place.namespace, name: policy }
    return (await place.client.get<RetentionPolicy>(retentionPolicies.type, name))?.status
  }
  const records = async () => {
    const found = await place.client.list<Sweep>(sweeps.type, { namespace: place.namespace })
    return found.map(({ spec }) => spec).sort((a, b) => ((a.startedAt ?? '') < (b.startedAt ?? '') ? -1 : 1))
  }
  const store = async (key: string, days: number, accountId = drape.accountId) => {
    const about = { accountId, externalUserId: null, expiresAt: null }
    await createObjects(drape.database).insert({ key, kind: 'result', bytes: 7, ...about })
    await drape.database.query(sql.unsafe`
      update objects set created_at = now() - make_interval(secs => ${days * DAY}) where key = ${key}`)
  }

  /** Also of one that is past its time. */
  const exists = (key: string) => drape.database.exists(sql.unsafe`select from objects where key = ${key}`)

  beforeAll(async () => {
    if (controlPlane === null) return
    place = await createTestNamespace(controlPlane)
    await installDefinitions(place.client)
    drape = await startDrape()
    controller = await startProgram('controller', {
      ...drape.env,
      KUBECONFIG: controlPlane.kubeconfig,
      WATCH_NAMESPACE: place.namespace,
      LEASE_NAMESPACE: place.namespace,
      LEASE_SECONDS: '3',
      SWEEP_SECONDS: '2',
    })
  })
  afterAll(async () => {
    await controller?.end()
    await drape?.stop()
    await place?.[Symbol.asyncDispose]()
  })

  it('reports a dry run, then deletes, with a record of both', async () => {
    await store('results/old.jpg', 5)
    await store('results/new.jpg', 1)
    await apply({ ttlSeconds: 3 * DAY })
    const reported = await until(async () => (await records())[0])
    expect(reported).toMatchObject({ policy: 'days', dryRun: true, objects: 1, held: 0 })
    await until(async () => (await status())?.overdue === 1)
    expect((await status())?.oldestOverdueSeconds).toBeGreaterThanOrEqual(2 * DAY)

    await apply({ ttlSeconds: 3 * DAY, dryRun: false })
    const deleted = await until(async () => (await records()).find(({ dryRun }) => !dryRun))
    expect(deleted).toMatchObject({ objects: 1, bytes: 7, unsized: 0, keysDigest: reported.keysDigest })
    await until(async () => (await status())?.overdue === 0)
    expect(await status()).toMatchObject({
      oldestOverdueSeconds: 0,
      conditions: [{ type: 'Ready', status: 'True' }, { status: 'False' }, { status: 'False' }],
    })
    expect(await createObjects(drape.database).find('results/old.jpg')).toBeNull()
    expect(await createObjects(drape.database).find('results/new.jpg')).not.toBeNull()
  })

  it('keeps objects on hold, even from erasures and while the policy is suspended or reporting', async () => {
    const { id: held } = await drape.createAccount(0)
    const holder = { ttlSeconds: 86_400_000, suspend: true, legalHold: [{ accountId: held, reason: 'court order' }] }
    await apply(holder, 'court')
    await until(async () => (await status('court'))?.conditions?.[0]?.reason === 'Suspended')
    for (const name of ['one', 'two']) await store(`results/held-${name}.jpg`, 5, held)
    await store('results/free.jpg', 5)
    await apply({ ttlSeconds: 3 * DAY, dryRun: false, intervalSeconds: 10 })
    await until(async () => (await createObjects(drape.database).find('results/free.jpg')) === null)
    const record = await until(async () => (await records()).find(({ held }) => held === 2))
    expect(record).toMatchObject({ policy: 'days', dryRun: false })
    for (const name of ['one', 'two'])
      expect(await createObjects(drape.database).find(`results/held-${name}.jpg`)).not.toBeNull()

    await place.client.delete(retentionPolicies.type, { namespace: place.namespace, name: 'court' })
    for (const name of ['one', 'two'])
      await until(async () => (await createObjects(drape.database).find(`results/held-${name}.jpg`)) === null)
    const events = await until(async () => {
      const found = await place.client.list<KubernetesObject & { reason?: string }>(EVENTS, {
        namespace: place.namespace,
      })
      return found.some(({ reason }) => reason === 'HoldsEnded') && found
    })
    expect(events.length).toBeGreaterThan(0)
  })

  const request = (name: string, spec: object) =>
    place.client.create(sweeps.type, { metadata: { namespace: place.namespace, name }, spec })
  const outcome = async (name: string) => {
    const found = await place.client.get<Sweep>(sweeps.type, { namespace: place.namespace, name })
    const complete = found?.status?.conditions?.find(({ type }) => type === 'Complete')
    // As kubectl wait reads it: a condition of an older generation does not count.
    const isCurrent = complete?.observedGeneration === found?.metadata.generation
    return complete && isCurrent && complete.reason !== 'Running' ? { spec: found?.spec, ...complete } : null
  }

  it('runs at once for a Sweep, without deletion in a dry run', async () => {
    const nightly = { ttlSeconds: 3 * DAY, dryRun: false, schedule: '30 2 * * *' }
    await apply(nightly, 'nightly')
    await until(async () => (await status('nightly'))?.nextRunTime !== undefined)
    await place.client.delete(retentionPolicies.type, { namespace: place.namespace, name: 'days' })
    await store('results/asked.jpg', 5)
    await request('try', { policy: 'nightly', dryRun: true })
    const tried = await until(() => outcome('try'))
    expect(tried).toMatchObject({ status: 'True', reason: 'Ran', spec: { dryRun: true, objects: 1, bytes: 7 } })
    expect(await exists('results/asked.jpg')).toBe(true)
    await request('now', { policy: 'nightly' })
    const done = await until(() => outcome('now'))
    expect(done).toMatchObject({
      status: 'True',
      message: 'Deleted 1 images.',
      spec: { policy: 'nightly', dryRun: false, keysDigest: tried.spec?.keysDigest },
    })
    expect(await exists('results/asked.jpg')).toBe(false)
    const change = { metadata: { namespace: place.namespace, name: 'now' }, spec: { ...done.spec, objects: 0 } }
    await expect(place.client.apply(sweeps.type, change)).rejects.toThrow('a Sweep with a result is immutable')
  })

  it('leaves uncovered objects to the sweep 1 hour after expiration', async () => {
    await store('results/recent.jpg', 2)
    await store('results/overlooked.jpg', 2)
    await drape.database.query(sql.unsafe`
      update objects set expires_at = now() - make_interval(mins => case key when 'results/recent.jpg' then 30 else 90 end)
      where key in ('results/recent.jpg', 'results/overlooked.jpg')`)
    await until(async () => !(await exists('results/overlooked.jpg')))
    expect(await exists('results/recent.jpg')).toBe(true)
  })
})
