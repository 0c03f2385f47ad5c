import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findHelm } from '../../scripts/charts/helm.ts'
import { run } from '../../scripts/stack/commands.ts'
import { findChart, orSkip } from '../chart/charts.ts'
import { until } from '../support/until.ts'
import { NAMESPACES } from './kinds.ts'
import { findKubectl } from './kubectl.ts'
import { type PoolStage, startPoolStage } from './pool-stage.ts'
import { saturate } from './saturate.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

const WORKERS = 12
const JOB_MS = 5000
const SPEC = {
  engines: ['mock'],
  replicas: WORKERS,
  scaling: { mode: 'Fixed' },
  template: { image: 'drape/worker:test', requests: { cpu: '1' } },
}

const controlPlane = await findSharedControlPlane()
const chart = await findChart('drape')
const kubectl = await findKubectl()
const helm = await orSkip('Helm', findHelm())
const possible = controlPlane?.hasControllers && chart !== null && kubectl !== null && helm !== null

describe.skipIf(!possible)('an installation with busy workers', () => {
  let stage: PoolStage
  /** The next test of a namespace that is deleted. */
  const withStage = (use: () => Promise<void>) => async () => {
    if (controlPlane === null) return
    stage = await startPoolStage(controlPlane, { graceful: true })
    try {
      await use()
    } finally {
      await stage[Symbol.asyncDispose]()
    }
  }
  const isGone = async () => (await stage.client.get(NAMESPACES, { name: stage.namespace })) === null
  const deleteNamespace = async (before: () => Promise<unknown>) => {
    await using pool = await saturate(stage, 'busy', { workers: WORKERS, jobMs: JOB_MS, spec: SPEC })
    expect(pool.busy()).toHaveLength(WORKERS)
    await before()
    await stage.client.delete(NAMESPACES, { name: stage.namespace })
    await until(isGone)
    expect(stage.workers.killed).toEqual([])
    // A worker may have been between two jobs.
    expect(stage.workers.interrupted.length).toBeGreaterThan(WORKERS / 2)
  }

  it(
    'loses no job when its namespace is deleted',
    withStage(() => deleteNamespace(async () => {})),
  )

  it(
    'loses no job when its namespace is deleted after its controller was killed',
    withStage(() => deleteNamespace(() => stage.controller.end('SIGKILL'))),
  )

  describe('uninstalled with Helm', () => {
    const SET = {
      ...Object.fromEntries(['postgres', 'redis'].map((name) => [`${name}.enabled`, false])),
      ...Object.fromEntries(
        ['database', 'queue', 'signing', 'encryption', 'provenance'].map((name) => [`${name}.existingSecret`, 'own']),
      ),
      storage: { kind: 's3', s3: { bucket: 'images' } },
      migrations: { mode: 'manual' },
      'api.replicas': 0,
      'controller.replicas': 0,
      'pools.cpu': { engines: ['mock'], mode: 'Fixed', replicas: WORKERS, requests: { cpu: '1' } },
      // The stage has the Engine already.
      engines: { warp: null, mock: null },
      exportedEngines: ['mock'],
      'config.defaultEngine': 'mock',
    }
    const inCluster = ['--kubeconfig', controlPlane?.kubeconfig ?? '']
    const listAll = async () => {
      const ask = (...args: string[]) => run(kubectl ?? '', ['kubectl', ...inCluster, ...args])
      const kinds = await ask('api-resources', '--verbs=list', '--namespaced', '--output=name')
      const listed = kinds.split('\n').filter((kind) => kind !== '' && !/^events|metrics/.test(kind))
      const found = await ask('--namespace', stage.namespace, 'get', listed.join(), '--output=name')
      return [...new Set(found.split('\n').filter((name) => name !== ''))].sort()
    }

    beforeAll(async () => {
      if (controlPlane !== null) stage = await startPoolStage(controlPlane, { graceful: true })
    })
    afterAll(() => stage?.[Symbol.asyncDispose]())

    it('loses no job, and leaves only what the page says', async () => {
      const before = await listAll()
      const given = Object.entries(SET).flatMap(([path, value]) => ['--set-json', `${path}=${JSON.stringify(value)}`])
      const options = [...inCluster, '--namespace', stage.namespace]
      await chart?.helm('install', 'drape', chart.folder, ...options, ...given)
      await using pool = await saturate(stage, 'drape-cpu', { workers: WORKERS, jobMs: JOB_MS })
      expect(pool.busy()).toHaveLength(WORKERS)
      await chart?.helm('uninstall', 'drape', ...options)
      await until(async () => stage.podsOf('drape-cpu').length === 0)
      expect(stage.workers.killed).toEqual([])
      expect(stage.workers.interrupted.length).toBeGreaterThan(WORKERS / 2)
      await until(async () => (await listAll()).join() === before.join())
      const cluster = await run(kubectl ?? '', [
        'kubectl',
        ...inCluster,
        'get',
        'clusterroles,clusterrolebindings',
        '-oname',
      ])
      expect(cluster).not.toContain(stage.namespace)
    })
  })
})
