import { describe, expect, it } from 'vitest'
import { generateData } from '../../controller/generated-secrets/secret-keys.ts'
import type { Rendered } from '../../scripts/charts/render.ts'
import { findChart, renderWith } from './charts.ts'
import { generatedSecretsOf } from './generated-secrets.ts'
import { named } from './objects.ts'

const chart = await findChart('drape')
const render = renderWith(chart)
const OUTSIDE = { 'postgres.enabled': false, 'database.existingSecret': 'postgres' }
const ROLES = {
  ...OUTSIDE,
  'database.roles.api': 'drape_api',
  'database.roles.controller': 'drape_controller',
}

describe.skipIf(chart === null)('the database roles of the processes in the chart', () => {
  it('default to the owner', async () => {
    const objects = await render(OUTSIDE)
    expect(keysOf(objects)).toEqual({ api: 'url', controller: 'url', worker: undefined, migrations: 'url' })
    expect(migrationOf(objects)).toEqual(['migrate', '--wait-seconds', '600', '--await-legal-holds'])
  })

  it('have their own URLs, and get privileges from migrations', async () => {
    const objects = await render(ROLES)
    expect(keysOf(objects)).toEqual({
      api: 'api-url',
      controller: 'controller-url',
      worker: undefined,
      migrations: 'url',
    })
    expect(migrationOf(objects)).toEqual([
      ...['migrate', '--wait-seconds', '600', '--await-legal-holds'],
      ...['--grant', 'api=drape_api,controller=drape_controller'],
    ])
  })

  it('connect past a pooler where they need it', async () => {
    const objects = await render({ ...ROLES, 'database.direct': true })
    const direct = { api: 'direct-api-url', controller: 'direct-controller-url', migrations: 'direct-url' }
    expect(keysOf(objects, 'DATABASE_DIRECT_URL')).toEqual({ ...direct, worker: undefined })
    expect(keysOf(objects).controller).toBe('controller-url')
    await expect(render({ 'database.direct': true })).rejects.toThrow('database.direct has no URLs')
  })

  it('get privileges when the API migrates on start-up', async () => {
    const objects = await render({ ...ROLES, 'migrations.mode': 'initContainer' })
    const [{ args }] = named(objects, 'Deployment', 'drape-api').spec.template.spec.initContainers
    expect(args.slice(4)).toEqual(['--grant', 'api=drape_api,controller=drape_controller'])
    const [waiting] = named(objects, 'Deployment', 'drape-controller').spec.template.spec.initContainers
    expect(waiting.args.slice(0, 2)).toEqual(['check', 'migrations'])
  })

  it('are created by migrations for each process of the bundled Postgres', async () => {
    const objects = await render({})
    const urls = { api: 'api-url', controller: 'controller-url', worker: undefined, migrations: 'url' }
    expect(keysOf(objects)).toEqual(urls)
    expect(migrationOf(objects)).toContain('--create-roles')
    const database = generatedSecretsOf(objects).find(({ metadata }) => metadata.name === 'drape-database')
    const data = generateData(database?.keys ?? {})
    const decode = (key: string) => Buffer.from(data[key], 'base64').toString()
    const job = objects.find(({ kind, metadata }) => kind === 'Job' && metadata.name.includes('migrations'))
    for (const process of ['api', 'controller']) {
      const url = new URL(decode(`${process}-url`))
      expect(url).toMatchObject({ username: `drape_${process}`, password: expect.stringMatching(/^\w{32}$/) })
      expect(url.password).not.toBe(decode('password'))
      expect(job?.spec.template.spec.containers[0].env).toContainEqual({
        name: `${process.toUpperCase()}_DATABASE_URL`,
        valueFrom: { secretKeyRef: { name: 'drape-database', key: `${process}-url` } },
      })
    }
  })

  it('are the owner where an operator runs the migrations', async () => {
    const { migrations: _, ...keys } = keysOf(await render({ 'migrations.mode': 'manual' }))
    expect(keys).toEqual({ api: 'url', controller: 'url', worker: undefined })
  })

  it('require a Secret with the URL of each role', async () => {
    const bundled = { 'database.roles.api': 'drape_api' }
    await expect(render(bundled)).rejects.toThrow(
      'database.roles.api has no URL: set database.existingSecret to a Secret with one',
    )
  })
})

function migrationOf(objects: readonly Rendered[]): readonly string[] {
  const job = objects.find(({ kind, metadata }) => kind === 'Job' && metadata.name.includes('migrations'))
  return job?.spec.template.spec.containers[0].args
}

/** Under which key of the Secret each process finds the URL of the database. */
function keysOf(objects: readonly Rendered[], variable = 'DATABASE_URL') {
  const keyIn = (env: readonly Rendered[]): string | undefined => {
    const found = env.find(({ name }) => name === variable)
    return (found?.valueFrom?.secretKeyRef ?? found?.secret)?.key
  }
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
