import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../../api/shared/database.ts'
import { createObjects } from '../../api/shared/stores/objects.ts'
import { type RetentionPolicy, retentionPolicies, type Sweep, sweeps } from '../../controller/retention/resource.ts'
import { type Drape, startDrape } from '../support/drape.ts'
import { startProgram, type TestProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { createTestNamespace, type TestNamespace } from './namespace.ts'
import { installDefinitions } from './samples.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

const controlPlane = await findSharedControlPlane()
const DAY = 86_400

describe.skipIf(controlPlane === null)('a retention policy', () => {
  let place: TestNamespace
  let drape: Drape
  let controller: TestProgram

  const apply = (spec: object) =>
    place.client.apply(retentionPolicies.type, { metadata: { namespace: place.namespace, name: 'days' }, spec })
  const status = async () => {
    const name = { namespace: place.namespace, name: 'days' }
    return (await place.client.get<RetentionPolicy>(retentionPolicies.type, name))?.status
  }
  const records = async () => {
    const found = await place.client.list<Sweep>(sweeps.type, { namespace: place.namespace })
    return found.map(({ spec }) => spec).sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
  }
  const store = async (key: string, days: number) => {
    const about = { accountId: drape.accountId, externalUserId: null, expiresAt: null }
    await createObjects(drape.database).insert({ key, kind: 'result', bytes: 7, ...about })
    await drape.database.query(sql.unsafe`
      update objects set created_at = now() - make_interval(secs => ${days * DAY}) where key = ${key}`)
  }

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
    })
  })
  afterAll(async () => {
    await controller?.end()
    await drape?.stop()
    await place?.[Symbol.asyncDispose]()
  })

  it('tells first what it would delete, then deletes it, and leaves a record of both', async () => {
    await store('results/old.jpg', 5)
    await store('results/new.jpg', 1)
    await apply({ ttlSeconds: 3 * DAY })
    const told = await until(async () => (await records())[0])
    expect(told).toMatchObject({ policy: 'days', dryRun: true, objects: 1, held: 0 })
    await until(async () => (await status())?.overdue === 1)
    expect((await status())?.oldestOverdueSeconds).toBeGreaterThanOrEqual(2 * DAY)

    await apply({ ttlSeconds: 3 * DAY, dryRun: false })
    const deleted = await until(async () => (await records()).find(({ dryRun }) => !dryRun))
    expect(deleted).toMatchObject({ objects: 1, bytes: 7, unsized: 0, keysDigest: told.keysDigest })
    await until(async () => (await status())?.overdue === 0)
    expect(await status()).toMatchObject({
      oldestOverdueSeconds: 0,
      conditions: [{ type: 'Ready', status: 'True' }, { status: 'False' }, { status: 'False' }],
    })
    expect(await createObjects(drape.database).find('results/old.jpg')).toBeNull()
    expect(await createObjects(drape.database).find('results/new.jpg')).not.toBeNull()
  })

  it('lets a policy go at once', async () => {
    await place.client.delete(retentionPolicies.type, { namespace: place.namespace, name: 'days' })
    await until(async () => (await status()) === undefined)
  })
})
