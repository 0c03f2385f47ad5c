import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createDatabase, sql } from '../../../api/shared/database/database.ts'
import { createObjects } from '../../../api/shared/storage/objects.store.ts'
import { readPolicies } from '../../../controller/retention/policies.ts'
import { createTestDatabase } from '../../support/postgres.ts'
import { spawnProcess } from '../../support/process.ts'
import { requestService } from '../../support/request-service.ts'
import { until } from '../../support/until.ts'

const POLICIES = `
apiVersion: drape.dev/v1alpha1
kind: RetentionPolicy
metadata: { name: two-days }
spec: { ttlSeconds: 172800, dryRun: false }
---
apiVersion: drape.dev/v1alpha1
kind: RetentionPolicy
metadata: { name: nightly }
spec: { selector: { kinds: [person] }, ttlSeconds: 172800, dryRun: false, schedule: '0 0 * * *', timeZone: Asia/Tokyo }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: other }
`

describe('retention without Kubernetes', () => {
  it('runs policies from a file like those of a cluster', async () => {
    const made = await createTestDatabase()
    const database = createDatabase(made.url, { poolSize: 1 })
    const { id: accountId } = await createAccounts(database).insert({ name: 'Test', email: null, credits: 0 })
    const objects = createObjects(database)
    for (const [key, kind, days] of [
      ['results/old.jpg', 'result', 3],
      ['results/new.jpg', 'result', 1],
      // At the last midnight it was past its time already.
      ['persons/old.jpg', 'person', 3],
      ['persons/new.jpg', 'person', 1],
    ] as const) {
      await objects.insert({ key, accountId, externalUserId: null, kind, bytes: 1, expiresAt: null })
      await database.query(sql.unsafe`
        update objects set created_at = now() - make_interval(secs => ${days * 86_400}) where key = ${key}`)
    }
    const { path } = await requestService('folder', null)
    const file = join(path, 'retention.yaml')
    await writeFile(file, POLICIES)
    const controller = await spawnProcess({
      command: process.execPath,
      args: ['controller/local.ts'],
      cwd: resolve(import.meta.dirname, '../../..'),
      env: {
        ...process.env,
        DATABASE_URL: made.url,
        STORAGE_URL: `file:${path}`,
        RETENTION_FILE: file,
        PROBE_PORT: '0',
      },
    })
    await until(async () => (await objects.find('results/old.jpg')) === null)
    await until(async () => (await objects.find('persons/old.jpg')) === null)
    for (const key of ['results/new.jpg', 'persons/new.jpg']) expect(await objects.find(key)).not.toBeNull()
    for (const name of ['two-days', 'nightly']) await until(() => controller.output().includes(`"policy":"${name}"`))
    expect(await controller.end()).toBe(0)
    await database.end()
    await made.drop()
  })

  it('rejects a policy that the cluster would reject', () => {
    expect(() => readPolicies(POLICIES.replace('172800', '59'))).toThrow('spec.ttlSeconds')
    expect(() => readPolicies(POLICIES.replace('0 0 * * *', '0 24 * * *'))).toThrow(
      'The schedule "0 24 * * *" is not a valid cron expression: Constraint error, got value 24 expected range 0-23',
    )
    expect(() => readPolicies(POLICIES.replace('Asia/Tokyo', 'Asia/Atlantis'))).toThrow(
      'Unknown time zone Asia/Atlantis',
    )
  })
})
