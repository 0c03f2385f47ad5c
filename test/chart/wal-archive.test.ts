import { describe, expect, it } from 'vitest'
import { findChart, type Rendered, renderWith } from './charts.ts'
import { kinds, named } from './objects.ts'

const chart = await findChart('drape')
const render = renderWith(chart)
const ON = { 'postgres.walArchive.enabled': true }

describe.skipIf(chart === null)('the WAL archive of the bundled Postgres in the chart', () => {
  it('is disabled by default', async () => {
    const objects = await render()
    expect(kinds(objects)).not.toContain('CronJob')
    expect(() => named(objects, 'PersistentVolumeClaim', 'drape-postgres-wal-archive')).toThrow()
    expect(named(objects, 'StatefulSet', 'drape-postgres').spec.template.spec).not.toHaveProperty('initContainers')
  })

  it('has a volume that outlives the release, and base backups on its node', async () => {
    const objects = await render(ON)
    const claim = named(objects, 'PersistentVolumeClaim', 'drape-postgres-wal-archive')
    expect(claim.metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' })
    const postgres = named(objects, 'StatefulSet', 'drape-postgres').spec.template
    const backup = named(objects, 'CronJob', 'drape-postgres-backup').spec.jobTemplate.spec.template
    const [{ labelSelector }] = backup.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution
    expect(postgres.metadata.labels).toMatchObject(labelSelector.matchLabels)
    // The Service of Postgres must not select them.
    const { selector } = named(objects, 'Service', 'drape-postgres').spec
    expect(backup.metadata.labels).not.toMatchObject(selector)
    for (const { spec } of [postgres, backup]) {
      expect(spec.volumes).toContainEqual({
        ...{ name: 'archive', persistentVolumeClaim: { claimName: 'drape-postgres-wal-archive' } },
      })
    }
    for (const { securityContext } of [...postgres.spec.initContainers, ...backup.spec.containers])
      expect(securityContext).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false })
    const own = await render({ ...ON, 'postgres.walArchive.persistence.existingClaim': 'share' })
    expect(() => named(own, 'PersistentVolumeClaim', 'drape-postgres-wal-archive')).toThrow()
  })

  it('locks the data directory for the server and the restore, also without an archive', async () => {
    const lock = '/etc/drape/postgres/with-lock'
    const containersOf = async (set: Record<string, unknown>) => {
      const { containers, initContainers = [] } = named(await render(set), 'StatefulSet', 'drape-postgres').spec
        .template.spec
      return [...initContainers, ...containers] as Rendered[]
    }
    const [postgres] = await containersOf({})
    expect(postgres.command).toEqual([lock, 'docker-entrypoint.sh', 'postgres'])
    expect(postgres.volumeMounts).toContainEqual({ name: 'scripts', mountPath: '/etc/drape/postgres', readOnly: true })
    expect(named(await render(), 'ConfigMap', 'drape-postgres-scripts').data).toHaveProperty('with-lock')
    const [restore] = await containersOf(ON)
    expect(restore.command).toEqual([lock, '/etc/drape/postgres/restore'])
    const [own] = await containersOf({ 'postgres.command': ['start'] })
    expect(own.command).toEqual([lock, 'start'])
  })

  it('has a claim for one pod, if set', async () => {
    const claim = async (set: Record<string, unknown>) =>
      named(await render(set), 'PersistentVolumeClaim', 'drape-postgres').spec.accessModes
    expect(await claim({})).toEqual(['ReadWriteOnce'])
    expect(await claim({ 'postgres.persistence.accessMode': 'ReadWriteOncePod' })).toEqual(['ReadWriteOncePod'])
    await expect(claim({ 'postgres.persistence.accessMode': 'ReadWriteMany' })).rejects.toThrow('accessMode')
  })

  it('appends its settings to custom Postgres arguments', async () => {
    const objects = await render({ ...ON, 'postgres.args': ['-c', 'max_connections=300'] })
    const { args } = named(objects, 'StatefulSet', 'drape-postgres').spec.template.spec.containers[0]
    expect(args).toEqual(expect.arrayContaining(['max_connections=300', 'archive_mode=on', 'archive_timeout=60s']))
  })

  it('allows base backups to reach only Postgres', async () => {
    const objects = await render(ON)
    const { ingress } = named(objects, 'NetworkPolicy', 'drape-postgres').spec
    const names = ingress[0].from.map(
      ({ podSelector }: Rendered) => podSelector.matchLabels['app.kubernetes.io/component'],
    )
    expect(names).toContain('postgres-backup')
    const { egress, ...policy } = named(objects, 'NetworkPolicy', 'drape-postgres-backup').spec
    expect(policy).not.toHaveProperty('ingress')
    expect(egress.flatMap(({ ports }: Rendered) => ports.map(({ port }: Rendered) => port))).toEqual([53, 53, 5432])
  })

  it('restores to a UTC time or the latest state, and rejects other values and databases', async () => {
    for (const time of ['2026-11-25T12:00:00Z', '2026-11-25T12:00:00.25Z', 'latest']) {
      const objects = await render({ ...ON, 'postgres.walArchive.restoreTo': time })
      const [{ env }] = named(objects, 'StatefulSet', 'drape-postgres').spec.template.spec.initContainers
      expect(env).toContainEqual({ name: 'RESTORE_TO', value: time })
    }
    for (const time of ['yesterday', '2026-11-25 12:00:00', '2026-11-25T12:00:00+01:00', "2026-11-25T12:00:00Z'"])
      await expect(render({ ...ON, 'postgres.walArchive.restoreTo': time })).rejects.toThrow('restoreTo')
    const from = await render({ ...ON, 'postgres.walArchive.restoreFrom': '20261125T031704Z' })
    const [{ env }] = named(from, 'StatefulSet', 'drape-postgres').spec.template.spec.initContainers
    expect(env).toContainEqual({ name: 'RESTORE_FROM', value: '20261125T031704Z' })
    await expect(render({ 'postgres.walArchive.restoreTo': 'latest' })).rejects.toThrow('requires an archive')
    const outside = { 'postgres.enabled': false, 'database.existingSecret': 'db' }
    await expect(render({ ...ON, ...outside })).rejects.toThrow('requires the bundled Postgres')
  })
})
