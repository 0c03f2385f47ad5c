import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeImage } from '../../../api/shared/image.ts'
import { buildChart } from '../../../scripts/charts/build.ts'
import { findHelm } from '../../../scripts/charts/helm.ts'
import { run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { until } from '../../support/until.ts'
import type { RealCluster } from './cluster.ts'
import { startDrapeNode } from './drape-node.ts'
import { findImageBuilder } from './images.ts'
import { BRIDGE } from './network.ts'
import { findNodePrograms } from './node-programs.ts'
import { createShop, type Generation, type Shop, startCalling } from './shop.ts'

const LONG = process.env.LONG_TESTS === '1'
const builder = await findImageBuilder()
const programs = await findNodePrograms(builder)

const NAMESPACE = 'shop'
const PORT = 30080
const URL = `http://${BRIDGE.address}:${PORT}`
const MINUTES = 60_000

describe.skipIf(programs === null)('an installation by Helm on a real node', { timeout: 10 * MINUTES }, () => {
  const undo = new AsyncDisposableStack()
  let cluster: RealCluster
  let shop: Shop
  let chart = ''
  let helm = ''
  let picture = ''

  beforeAll(async () => {
    if (builder === null || programs === null) return
    cluster = await startDrapeNode({ builder, programs, namespaces: [NAMESPACE], volumes: [5, 10, 20] })
    undo.defer(() => cluster.stop())
    chart = await buildChart('drape', join(cluster.folder, 'charts'))
    helm = await findHelm()
  }, 30 * MINUTES)
  afterAll(() => undo.disposeAsync(), 2 * MINUTES)

  it('is ready, with every pod as the standard "restricted" asks', async () => {
    const startedAt = performance.now()
    await release('install')
    await until(async () => (await findPods()).length >= 5 && (await findPods()).every(({ ready }) => ready))
    console.log(`ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
    const { labels } = JSON.parse(await cluster.kubectl('get', 'namespace', NAMESPACE, '-o', 'json')).metadata
    expect(labels['pod-security.kubernetes.io/enforce']).toBe('restricted')
  })

  it.skipIf(!LONG)('passes its own tests', async () => {
    const said = await runHelm('test', 'drape', '--namespace', NAMESPACE, '--timeout', '8m')
    const passed = said.match(/^Phase:\s+Succeeded$/gm) ?? []
    expect(passed.length).toBeGreaterThanOrEqual(7)
    expect(said).not.toMatch(/^Phase:\s+Failed$/m)
  })

  it('makes a picture for who comes through the Service', async () => {
    const plenty = ['--credits', '10000', '--writes-per-minute', '100000', '--reads-per-minute', '100000']
    const create = ['account', 'create', '--name', 'Shop', ...plenty, '--json']
    const { apiKey } = JSON.parse(await inApi('node', 'scripts/drape.ts', ...create))
    shop = createShop(URL, apiKey)
    const generation = await shop.finish(await shop.tryOn())
    expect(generation).toMatchObject({ status: 'COMPLETED' })
    picture = generation.resultImageUrl ?? ''
    const bytes = new Uint8Array(await (await fetch(picture)).arrayBuffer())
    const { width, height } = await decodeImage(bytes)
    expect(width * height).toBeGreaterThan(100_000)
  })

  it.skipIf(!LONG)('adds workers when try-ons wait, and does each of them', async () => {
    const ids = await Promise.all(Array.from({ length: 16 }, () => shop.tryOn()))
    await until(async () => (await findPods()).filter(({ component }) => component === 'worker').length >= 2)
    const ended = await Promise.all(ids.map((id) => shop.finish(id)))
    expect(ended.filter(({ status }) => status !== 'COMPLETED')).toEqual([])
  })

  it('is upgraded under load without a failed try-on', async () => {
    const calling = startCalling(shop)
    await release('upgrade', 'next')
    await until(async () => (await findPods()).every(({ image, ready }) => ready && !image.endsWith(':test')))
    const { accepted, refused } = await calling.stop()
    console.log(`${accepted.length} try-ons while it was upgraded, ${refused.length} requests refused`)
    const ended: Generation[] = []
    for (const id of accepted) ended.push(await shop.finish(id))
    expect(accepted.length).toBeGreaterThan(10)
    expect(ended.filter(({ status }) => status !== 'COMPLETED')).toEqual([])
    expect(refused).toEqual([])
  })

  it.skipIf(!LONG)('goes back to the release before', async () => {
    await runHelm('rollback', 'drape', '1', '--namespace', NAMESPACE, '--wait', '--timeout', '5m')
    await until(async () => (await findPods()).every(({ image, ready }) => ready && !image.endsWith(':next')))
    expect(await shop.finish(await shop.tryOn())).toMatchObject({ status: 'COMPLETED' })
  })

  it.skipIf(!LONG)('leaves its data when it is uninstalled, and finds them again', async () => {
    await runHelm('uninstall', 'drape', '--namespace', NAMESPACE, '--wait', '--timeout', '5m')
    await until(async () => (await findPods()).length === 0)
    await release('install')
    await until(async () => (await findPods()).length >= 5 && (await findPods()).every(({ ready }) => ready))
    expect((await fetch(picture)).status).toBe(200)
    expect(await shop.finish(await shop.tryOn())).toMatchObject({ status: 'COMPLETED' })
  })

  /** As the page on installing has it, but for images that are here already and a Service that this machine reaches. */
  function release(verb: 'install' | 'upgrade', tag = 'test'): Promise<string> {
    const settings = {
      'image.tag': tag,
      'postgres.image.tag': '17',
      publicUrl: URL,
      'api.service.type': 'NodePort',
    }
    const small = join(ROOT, 'charts/drape/values-small.yaml')
    const set = Object.entries(settings).flatMap(([name, value]) => ['--set-string', `${name}=${value}`])
    const port = ['--set', `api.service.nodePort=${PORT}`]
    return runHelm(
      verb,
      'drape',
      chart,
      '--namespace',
      NAMESPACE,
      '--values',
      small,
      ...set,
      ...port,
      '--wait',
      '--timeout',
      '5m',
    )
  }

  function runHelm(...args: string[]): Promise<string> {
    const homes = Object.fromEntries(['CACHE', 'CONFIG', 'DATA'].map((name) => [`HELM_${name}_HOME`, cluster.folder]))
    const env = { ...process.env, ...homes, KUBECONFIG: cluster.controlPlane.kubeconfig }
    return run(helm, args, { env }).catch(async (error) => {
      throw new Error(`${error.message}\n${await describeNamespace()}`)
    })
  }

  function inApi(...command: string[]): Promise<string> {
    return cluster.kubectl('exec', 'deploy/drape-api', '--container=api', `--namespace=${NAMESPACE}`, '--', ...command)
  }

  /** Pods that are there to stay. */
  async function findPods(): Promise<{ name: string; component: string; image: string; ready: boolean }[]> {
    const { items } = JSON.parse(await cluster.kubectl('get', 'pods', `--namespace=${NAMESPACE}`, '-o', 'json')) as {
      items: Pod[]
    }
    return items
      .filter(({ spec }) => spec.restartPolicy === 'Always')
      .map(({ metadata, spec, status }) => ({
        name: metadata.name,
        component: metadata.labels?.['app.kubernetes.io/component'] ?? '',
        image: spec.containers[0].image,
        ready: status.conditions?.some(({ type, status: now }) => type === 'Ready' && now === 'True') ?? false,
      }))
  }

  async function describeNamespace(): Promise<string> {
    const parts = [
      ['get', 'all,pvc,workerpools', '-o', 'wide'],
      ['get', 'events'],
      ['describe', 'pods'],
    ]
    const texts = await Promise.all(
      parts.map((args) => cluster.kubectl(...args, `--namespace=${NAMESPACE}`).catch((error) => error.message)),
    )
    return texts.join('\n')
  }
})

interface Pod {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  readonly spec: { readonly restartPolicy: string; readonly containers: readonly { readonly image: string }[] }
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}
