import { existsSync } from 'node:fs'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from '../../../scripts/stack/commands.ts'
import { reserveFreePort } from '../../../scripts/stack/ports.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { until } from '../../support/until.ts'
import type { RealCluster } from './cluster.ts'
import { nameImages, startDrapeNode } from './drape-node.ts'
import { findImageBuilder } from './images.ts'
import { findNodePrograms } from './node-programs.ts'
import { NODE_NAME } from './node-settings.ts'
import { createReader, type Reader } from './page.ts'
import { createShop, type Generation, type Shop, startCalling } from './shop.ts'

const NOTHING_APPLIED = 'applied: none'
const LONG = process.env.LONG_TESTS === '1'
const builder = LONG ? await findImageBuilder() : null
const programs = LONG ? await findNodePrograms(builder) : null

const MINUTES = 60_000
const SECOND = 'second'
const DASHBOARD = { page: 'dashboard.md', heading: "The operators' dashboard" }
/** The registry of the page for places without internet. */
const HOUSE = 'registry.internal.example'

describe.skipIf(programs === null)(
  'an operator who follows the documentation word for word',
  { timeout: 10 * MINUTES },
  () => {
    const undo = new AsyncDisposableStack()
    let cluster: RealCluster
    let reader: Reader
    let shop: Shop
    let apiKey = ''

    beforeAll(async () => {
      if (builder === null || programs === null) return
      cluster = await startDrapeNode({
        builder,
        programs,
        page: { page: 'charts/drape/docs/install.md', heading: 'Install' },
        namespaces: ['drape', SECOND],
        volumes: [5, 5, 10, 10, 10, 20, 20, 20, 20],
      })
      undo.defer(() => cluster.stop())
      await nameImages(cluster, HOUSE)
      reader = await createReader(cluster, programs)
    }, 30 * MINUTES)
    afterAll(() => undo.disposeAsync(), 2 * MINUTES)

    it('installs the chart, whose tests pass', async () => {
      await reader.follow('install.md', 'Install', 1)
      const output = await reader.follow('install.md', 'Install', 2)
      expect(output.match(/^Phase:\s+Succeeded$/gm)?.length).toBeGreaterThanOrEqual(7)
      const create =
        'account create --name Shop --credits 10000 --writes-per-minute 100000 --reads-per-minute 100000 --json'
      apiKey = JSON.parse(await inApi(create)).apiKey
      shop = createShop(await addressOf('drape-api'), apiKey)
      expect(await shop.finish(await shop.tryOn())).toMatchObject({ status: 'COMPLETED' })
    })

    it('signs in to the dashboard through a forwarded port, and API callers cannot reach it', async () => {
      const output = await reader.follow(DASHBOARD.page, DASHBOARD.heading)
      const { email, password } = JSON.parse(output.split('\n').find((line) => line.startsWith('{')) ?? '')
      await reader.run('kubectl -n drape rollout status deploy/drape-api --timeout 5m')
      const { port, release } = await reserveFreePort()
      await release()
      const forwarding = await reader.start({ ...DASHBOARD, index: 1 }, { '8081:80': `${port}:80` })
      undo.defer(async () => void (await forwarding.end()))
      const dashboard = `http://localhost:${port}`
      await until(() => fetch(`${dashboard}/sign-in`).catch(() => null))
      const form = new URLSearchParams({ email, password, next: '/' })
      const headers = { origin: dashboard }
      const answer = await fetch(`${dashboard}/sign-in`, { method: 'POST', body: form, headers, redirect: 'manual' })
      expect(answer.status).toBe(303)
      const cookie = answer.headers.getSetCookie()[0].split(';')[0]
      // Which an admin needs before everything else.
      expect(await (await fetch(dashboard, { headers: { cookie } })).text()).toContain(
        '<h1>Password and second factor</h1>',
      )
      const wrong = new URLSearchParams({ email, password: 'not the password', next: '/' })
      expect((await fetch(`${dashboard}/sign-in`, { method: 'POST', body: wrong, headers })).status).toBe(401)
      expect((await fetch(`${await addressOf('drape-api')}/sign-in`)).status).toBe(404)
    })

    it('restores everything from a backup made under traffic', async () => {
      const before = await shop.finish(await shop.tryOn())
      const image = await readResult(before)
      const calling = startCalling(shop)
      await until(async () => (await readCount('generations')) > 5)
      await reader.follow('backup.md', 'Back up')
      const { accepted } = await calling.stop()
      // Otherwise workers wait for the database, which this step stops.
      for (const id of accepted) await shop.finish(id)
      const after = await shop.finish(await shop.tryOn())
      expect(await readResult(after)).not.toBeNull()
      const orphans = await findYounger(join(reader.folder, 'objects.tar'), join(reader.folder, 'dumped-at'))

      await reader.run('helm uninstall drape --namespace drape --wait && kubectl -n drape delete pvc,secret --all')
      await reader.run('kubectl -n drape wait pod --for delete --all --timeout 5m')
      for (const index of [1, 2]) await reader.follow('install.md', 'Install', index)
      for (const index of [0, 1, 2]) await reader.follow('backup.md', 'Restore', index)
      const volume = await volumeOf('drape-objects')
      expect(orphans.filter((path) => existsSync(join(volume, path)))).toEqual([])
      expect(await reader.follow('backup.md', 'Restore', 3)).toMatch(/^balanced +true/m)

      shop = createShop(await addressOf('drape-api'), apiKey)
      expect(await shop.read(before.generationId)).toMatchObject({ status: 'COMPLETED' })
      expect(await readResult(before)).toEqual(image)
      await expect(shop.read(after.generationId)).rejects.toMatchObject({ status: 404 })
      const kept: Generation[] = []
      for (const id of accepted) {
        const found = await shop.finish(id).catch((error) => {
          if (error.status !== 404) throw error
          return null
        })
        if (found !== null) kept.push(found)
      }
      console.log(
        `${kept.length} of ${accepted.length} try-ons of the time of the backup came back, ${orphans.length} images went`,
      )
      expect(kept.length).toBeGreaterThan(3)
      expect(await shop.finish(await shop.tryOn())).toMatchObject({ status: 'COMPLETED' })
      expect(await inApi('check ledger')).toMatch(/^balanced +true/m)
    })

    it('applies the erasure log, and a copy of it', async () => {
      const log = { page: 'backup.md', heading: 'Repeat erasures after a restore' }
      expect(await reader.follow(log.page, log.heading)).toMatch(/^entries +0/m)
      await shop.finish(await shop.tryOn('mock', 'user-1042'))
      expect(await shop.erase('user-1042')).toBe(204)
      expect(await reader.follow(log.page, log.heading, 1)).toMatch(/^entries +1/m)
    })

    it('gets workers back after scaling them to zero by hand', async () => {
      await reader.run('kubectl -n drape scale rs/drape-cpu-workers --replicas 0')
      expect(await shop.finish(await shop.tryOn())).toMatchObject({ status: 'COMPLETED' })
    })

    it('upgrades the chart, whose tests pass, and rolls back', async () => {
      const output = await reader.follow('upgrade.md', 'Upgrade')
      expect(output.match(/^Phase:\s+Succeeded$/gm)?.length).toBeGreaterThanOrEqual(7)
      expect(await imagesOf('drape-api')).toEqual(['registry.example/drape/api:0.2.0'])
      await reader.follow('upgrade.md', 'Roll back')
      await reader.run('kubectl -n drape rollout status deploy/drape-api --timeout 5m')
      expect(await imagesOf('drape-api')).toEqual(['registry.example/drape/api:0.1.0'])
      expect(await shop.finish(await shop.tryOn())).toMatchObject({ status: 'COMPLETED' })
    })

    it('finds the reason why a pod is pending', async () => {
      expect(await reader.follow('troubleshooting.md', 'Troubleshooting')).toContain('workerpool.drape.dev/drape-cpu')
      expect(await reader.follow('troubleshooting.md', 'Pods that are not ready')).toContain('"ready"')
      await reader.run('kubectl -n drape scale deploy/drape-redis --replicas 0')
      await until(async () =>
        /"failed":\{"redis"/.test(await reader.follow('troubleshooting.md', 'Pods that are not ready')),
      )
      await reader.run('kubectl -n drape scale deploy/drape-redis --replicas 1')
      expect(await shop.finish(await shop.tryOn())).toMatchObject({ status: 'COMPLETED' })
    })

    it('migrates from two API pods that start at once, when configured', async () => {
      const settings =
        '--values charts/drape/values-small.yaml --set image.registry=registry.example --set api.replicas=2'
      const release = (verb: string, version: string, mode: string) =>
        reader.run(
          `helm ${verb} second .cache/charts/drape-${version}.tgz --namespace ${SECOND} ${settings} --set migrations.mode=${mode} --wait --timeout 5m`,
        )
      await release('install', '0.1.0', 'initContainer')
      expect(await namesOf('jobs', SECOND)).toEqual([])
      const applied = (await schemaLogs('second-drape-api')).map((line) =>
        line === NOTHING_APPLIED ? [] : line.replace(/^applied +/, '').split(', '),
      )
      expect(applied).toHaveLength(2)
      const migrations = (await readdir(join(ROOT, 'api/shared/migrations'))).filter((name) => name.endsWith('.sql'))
      expect(applied.flat().sort()).toEqual(migrations.sort())
      expect(applied).toContainEqual([])
      const output = await reader.run(
        `helm test second --namespace ${SECOND} --filter name=second-drape-test-migrations`,
      )
      expect(output).toMatch(/^Phase:\s+Succeeded$/m)

      await release('upgrade', '0.2.0', 'hook')
      expect(await imagesOf('second-drape-api', SECOND)).toEqual(Array(2).fill('registry.example/drape/api:0.2.0'))
      expect((await schemaLogs('second-drape-api')).join()).not.toContain('applied')
      await release('upgrade', '0.1.0', 'initContainer')
      expect(await schemaLogs('second-drape-api')).toEqual([NOTHING_APPLIED, NOTHING_APPLIED])
      await reader.run(`helm uninstall second --namespace ${SECOND} --wait`)
    })

    it('runs a pool on GPU nodes, and gets the reason why no worker is ready without CUDA', async () => {
      // What NVIDIA's device plugin and its operator would say of a node; the image is the worker without CUDA under that name.
      await reader.run(`kubectl label node --all nvidia.com/gpu.present=true
kubectl patch node ${NODE_NAME} --subresource status --type merge --patch '{"status":{"capacity":{"nvidia.com/gpu":"1"}}}'`)
      // The release has a volume for one node, which is the only one.
      await reader.followPart(
        { page: 'gpu.md', heading: 'From a cluster to a picture', index: 1 },
        {
          placeholders: {
            '--create-namespace': `--reset-then-reuse-values --set-json nodeSelector='{"nvidia.com/gpu.present":"true"}'`,
            '--set storage.pvc.storageClass=shared --set image.registry=registry.example --set publicUrl=http://localhost:8080':
              '--set storage.pvc.accessMode=ReadWriteOnce',
          },
        },
      )
      await reader.run(`helm upgrade drape .cache/charts/drape-0.1.0.tgz --namespace drape --reset-then-reuse-values \
--set pools.gpu.scaling.bounds.min=2 --set pools.gpu.requests.cpu=100m --set pools.gpu.requests.memory=512Mi`)
      await until(async () =>
        (await reader.run('kubectl -n drape get events --field-selector reason=FailedCreate')).includes(
          'RuntimeClass "nvidia" not found',
        ),
      )
      await cluster.apply([
        { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', metadata: { name: 'nvidia' }, handler: 'runc' },
      ])
      const placed = await until(async () => {
        const pods = await podsOf('drape.dev/pool=drape-gpu')
        const waiting = pods.filter(({ spec }) => spec.nodeName === undefined)
        const output = waiting.flatMap(({ status }) => status.conditions?.map(({ message }) => message)).join()
        return output.includes('Insufficient nvidia.com/gpu') && pods.find(({ spec }) => spec.nodeName === NODE_NAME)
      })
      expect(placed.spec.containers[0].resources.limits['nvidia.com/gpu']).toBe('1')
      expect(placed.spec.runtimeClassName).toBe('nvidia')
      await until(async () => /cannot be opened on cuda: /.test(await reader.follow('gpu.md', 'Check the workers')))
      const ready = "{.status.conditions[?(@.type=='Ready')].message}"
      expect(await reader.run(`kubectl -n drape get wp drape-gpu --output jsonpath="${ready}"`)).toBe(
        '0 of 2 workers are ready.',
      )
      expect(await shop.finish(await shop.tryOn())).toMatchObject({ status: 'COMPLETED' })
    })

    it('installs the chart from a private registry with password and CA', async () => {
      await reader.run('helm uninstall drape --namespace drape --wait; kubectl delete namespace drape --timeout 5m')
      await reader.run('cp .cache/charts/drape-0.1.0.tgz . && echo hush >registry-password')
      await writeFile(join(reader.folder, 'ca.crt'), cluster.controlPlane.certificate)
      for (const index of [2, 3]) await reader.follow('air-gap.md', 'Air-gapped clusters', index)
      const output = await reader.run('helm test drape --namespace drape')
      expect(output.match(/^Phase:\s+Succeeded$/gm)?.length).toBeGreaterThanOrEqual(7)
      const images = (await podsOf('app.kubernetes.io/instance=drape')).flatMap(({ spec }) => spec.containers[0].image)
      expect(images.filter((image) => !image.startsWith('registry.internal.example/'))).toEqual([])
    })

    function inApi(command: string): Promise<string> {
      return reader.run(`kubectl -n drape exec deploy/drape-api -c api -- node scripts/drape.ts ${command}`)
    }

    async function readCount(table: string): Promise<number> {
      return Number(await query(`select count(*) from ${table}`))
    }

    function query(statement: string): Promise<string> {
      const psql = ['psql', '--username=drape', '--no-align', '--tuples-only', '--command', statement]
      return cluster.kubectl('--namespace=drape', 'exec', 'drape-postgres-0', '--', ...psql)
    }

    /** Where this machine, which is the node, reaches a Service. */
    async function addressOf(service: string): Promise<string> {
      return `http://${await reader.run(`kubectl -n drape get service ${service} --output jsonpath='{.spec.clusterIP}'`)}`
    }

    /** Links have the public host, which has no server here. */
    async function readResult({ resultImageUrl }: Generation): Promise<Buffer | null> {
      const link = new URL(resultImageUrl ?? '')
      const answer = await fetch(`${await addressOf('drape-api')}${link.pathname}${link.search}`)
      return answer.ok ? Buffer.from(await answer.arrayBuffer()) : null
    }

    /** The folder on this machine that a claim is bound to. */
    async function volumeOf(claim: string): Promise<string> {
      const name = await reader.run(`kubectl -n drape get pvc ${claim} --output jsonpath='{.spec.volumeName}'`)
      return join(cluster.folder, 'volumes', name.replace('volume-', ''))
    }

    async function podsOf(selector: string, namespace = 'drape'): Promise<Pod[]> {
      const text = await reader.run(`kubectl -n ${namespace} get pods --selector '${selector}' --output json`)
      return (JSON.parse(text) as { items: Pod[] }).items.filter(({ metadata }) => !metadata.deletionTimestamp)
    }

    /** Of the pods of a Deployment of the chart. */
    async function imagesOf(deployment: string, namespace = 'drape'): Promise<string[]> {
      return (await apiPods(deployment, namespace)).map(({ spec }) => spec.containers[0].image)
    }

    /** What the init containers for the schema wrote, a text for each pod. */
    async function schemaLogs(deployment: string): Promise<string[]> {
      const pods = await apiPods(deployment, SECOND)
      const logs = await Promise.all(
        pods.map(({ metadata }) => reader.run(`kubectl -n ${SECOND} logs ${metadata.name} -c migrations`)),
      )
      return logs.map((log) => log.trim())
    }

    async function apiPods(deployment: string, namespace: string): Promise<Pod[]> {
      const instance = deployment.replace(/-(drape-)?api$/, '')
      return podsOf(`app.kubernetes.io/component=api,app.kubernetes.io/instance=${instance}`, namespace)
    }

    async function namesOf(kind: string, namespace: string): Promise<string[]> {
      const text = await reader.run(`kubectl -n ${namespace} get ${kind} --output name`)
      return text.split('\n').filter((name) => name !== '')
    }
  },
)

interface Pod {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string }
  readonly spec: {
    readonly nodeName?: string
    readonly runtimeClassName?: string
    readonly containers: readonly { readonly image: string; readonly resources: { limits: Record<string, string> } }[]
  }
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly message?: string }[] }
}

/** Paths in the archive of files that were written after that time. */
async function findYounger(archive: string, timeFile: string): Promise<string[]> {
  const folder = `${archive}.d`
  await run('mkdir', ['--parents', folder])
  await run('tar', ['--extract', '--directory', folder, '--file', archive])
  const since = Date.parse((await readFile(timeFile, 'utf8')).trim().replace(' ', 'T').replace(/\+00$/, 'Z'))
  const paths = await readdir(folder, { recursive: true })
  const stats = await Promise.all(paths.map(async (path) => ({ path, about: await stat(join(folder, path)) })))
  return stats.filter(({ about }) => about.isFile() && about.mtimeMs > since).map(({ path }) => path)
}
