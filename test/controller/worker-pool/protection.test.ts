import { beforeEach, describe, expect, it } from 'vitest'
import { keepOfPod } from '../../../controller/worker-pool/workers/pods.ts'
import { ModelCluster } from './model-cluster.ts'

const SAFE_TO_EVICT = 'cluster-autoscaler.kubernetes.io/safe-to-evict'
const DO_NOT_DISRUPT = 'karpenter.sh/do-not-disrupt'
const PROTECTED = { [SAFE_TO_EVICT]: 'false', [DO_NOT_DISRUPT]: 'true' }

const specWith = (annotations: Readonly<Record<string, string>>) => ({
  engines: ['mock'],
  replicas: 2,
  scaling: { mode: 'Fixed' },
  template: { image: 'worker', requests: { cpu: '1' }, annotations },
})

describe('the protection of workers from consolidation', () => {
  let cluster: ModelCluster
  beforeEach(() => {
    cluster = start(specWith({}))
  })

  function start(spec: object): ModelCluster {
    const made = new ModelCluster(spec)
    made.jobSeconds = 5
    return made
  }

  const annotationsOf = ({ alive } = cluster) =>
    alive.map(({ object }) =>
      Object.fromEntries(Object.entries(object.metadata.annotations ?? {}).filter(([name]) => name in PROTECTED)),
    )

  it('is absent while workers are idle, and costs no writes', async () => {
    await cluster.run(120)
    expect(annotationsOf()).toEqual([{}, {}])
    expect(cluster.podPatches).toBe(0)
  })

  it('lasts while workers have jobs, with one write per pod, and ends a minute after the last job', async () => {
    await cluster.run(5)
    cluster.saturated = true
    await cluster.run(2)
    expect(annotationsOf()).toEqual([PROTECTED, PROTECTED])
    await cluster.run(120)
    expect(cluster.podPatches).toBe(2)
    cluster.saturated = false
    await cluster.run(50)
    expect(annotationsOf()).toEqual([PROTECTED, PROTECTED])
    await cluster.run(20)
    expect(annotationsOf()).toEqual([{}, {}])
    await cluster.run(60)
    expect(cluster.podPatches).toBe(4)
  })

  it('ends after a restart of the controller, too', async () => {
    cluster.saturated = true
    await cluster.run(10)
    cluster.restartController()
    cluster.saturated = false
    await cluster.run(70)
    expect(annotationsOf()).toEqual([{}, {}])
  })

  it('is left to operators who annotate the pods themselves', async () => {
    cluster = start(specWith({ [SAFE_TO_EVICT]: 'true' }))
    cluster.saturated = true
    await cluster.run(10)
    cluster.saturated = false
    await cluster.run(70)
    expect(annotationsOf()).toEqual([{ [SAFE_TO_EVICT]: 'true' }, { [SAFE_TO_EVICT]: 'true' }])
    expect(cluster.podPatches).toBe(0)
  })

  it('is part of what the controller keeps of a pod', () => {
    const annotations = { ...PROTECTED, 'drape.dev/protected': 'true' }
    expect(
      keepOfPod({ metadata: { name: 'a', annotations: { ...annotations, team: 'shop' } } }).metadata.annotations,
    ).toEqual(annotations)
  })
})
