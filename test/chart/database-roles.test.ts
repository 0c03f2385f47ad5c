import { describe, expect, it } from 'vitest'
import type { Rendered } from '../../scripts/charts/render.ts'
import { findChart, renderWith } from './charts.ts'
import { named } from './objects.ts'

const chart = await findChart('drape')
const render = renderWith(chart)
const OUTSIDE = { 'postgres.enabled': false, 'database.existingSecret': 'postgres' }
const ROLES = {
  ...OUTSIDE,
  'database.roles.worker.name': 'drape_worker',
  'database.roles.controller.name': 'drape_controller',
  'database.roles.controller.key': 'watcher',
}

describe.skipIf(chart === null)('the database roles of the processes in the chart', () => {
  it('are one, the owner, until others are named', async () => {
    const objects = await render(OUTSIDE)
    expect(keysOf(objects)).toEqual({ api: 'url', controller: 'url', worker: 'url', migrations: 'url' })
    expect(migrationOf(objects)).toEqual(['migrate', '--wait-seconds', '600'])
  })

  it('are those of the named, each by its own URL, and migrations give them their rights', async () => {
    const objects = await render(ROLES)
    expect(keysOf(objects)).toEqual({ api: 'url', controller: 'watcher', worker: 'worker-url', migrations: 'url' })
    expect(migrationOf(objects)).toEqual([
      ...['migrate', '--wait-seconds', '600'],
      ...['--grant', 'controller=drape_controller,worker=drape_worker'],
    ])
  })

  it('get their rights as well where the API migrates before it starts', async () => {
    const objects = await render({ ...ROLES, 'migrations.mode': 'initContainer' })
    const [{ args }] = named(objects, 'Deployment', 'drape-api').spec.template.spec.initContainers
    expect(args.slice(3)).toEqual(['--grant', 'controller=drape_controller,worker=drape_worker'])
    const [waiting] = named(objects, 'Deployment', 'drape-controller').spec.template.spec.initContainers
    expect(waiting.args.slice(0, 2)).toEqual(['check', 'migrations'])
  })

  it('need a Secret with the URL of each', async () => {
    const bundled = { 'database.roles.worker.name': 'drape_worker' }
    await expect(render(bundled)).rejects.toThrow(
      'database.roles.worker has no URL: set database.existingSecret, a Secret with a key for each role',
    )
  })
})

function migrationOf(objects: readonly Rendered[]): readonly string[] {
  const job = objects.find(({ kind, metadata }) => kind === 'Job' && metadata.name.includes('migrations'))
  return job?.spec.template.spec.containers[0].args
}

/** Under which key of the Secret each process finds the URL of the database. */
function keysOf(objects: readonly Rendered[]) {
  const ofPod = ({ spec }: Rendered) => keyIn(spec.template.spec.containers[0].env)
  const job = objects.find(({ kind, metadata }) => kind === 'Job' && metadata.name.includes('migrations'))
  const pool = objects.find(({ kind }) => kind === 'WorkerPool')
  return {
    api: ofPod(named(objects, 'Deployment', 'drape-api')),
    controller: ofPod(named(objects, 'Deployment', 'drape-controller')),
    worker: pool && keyIn(pool.spec.template.env),
    migrations: job && ofPod(job),
  }
}

function keyIn(env: readonly Rendered[]): string | undefined {
  const variable = env.find(({ name }) => name === 'DATABASE_URL')
  return (variable?.valueFrom?.secretKeyRef ?? variable?.secret)?.key
}
