import { describe, expect, it } from 'vitest'
import { findChart, renderWith } from './charts.ts'
import { named } from './objects.ts'

const chart = await findChart('drape')
const render = renderWith(chart)

describe.skipIf(chart === null)('the bundled Postgres in the chart', () => {
  it('locks the data directory, also with arguments of its own', async () => {
    const lock = '/etc/drape/postgres/with-lock'
    const containerOf = async (set: Record<string, unknown>) =>
      named(await render(set), 'StatefulSet', 'drape-postgres').spec.template.spec.containers[0]
    const postgres = await containerOf({})
    expect(postgres.command).toEqual([lock, 'docker-entrypoint.sh', 'postgres'])
    expect(postgres.volumeMounts).toContainEqual({ name: 'scripts', mountPath: '/etc/drape/postgres', readOnly: true })
    expect(Object.keys(named(await render(), 'ConfigMap', 'drape-postgres-scripts').data)).toEqual(['with-lock'])
    const own = await containerOf({ 'postgres.args': ['-c', 'max_connections=300'] })
    expect(own).toMatchObject({ command: postgres.command, args: ['-c', 'max_connections=300'] })
  })
})
