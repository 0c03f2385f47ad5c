import { describe, expect, it } from 'vitest'
import { workerPools } from '../../../../controller/worker-pool/resource.ts'
import { countTiers, highestCost } from '../../../../controller/worker-pool/scaling/cost-tiers.ts'
import { renderReplicaSet } from '../../../../controller/worker-pool/template/replica-set.ts'
import type { Pod } from '../../../../controller/worker-pool/workers/pods.ts'

const SPOT = { name: 'spot', type: 'spot', hourlyCost: 0.9, nodeSelector: { pool: 'spot' } }
const FIXED = { name: 'fixed', hourlyCost: 2.5, nodeSelector: { pool: 'fixed' } }
const NODES: Readonly<Record<string, Record<string, string>>> = {
  a: { pool: 'spot' },
  b: { pool: 'fixed' },
  c: { pool: 'other' },
}

describe('the tiers of a pool', () => {
  it('restrict where pods run, with a preference for the first', () => {
    const [spot, fixed] = ['spot', 'fixed'].map((value) => ({
      matchExpressions: [{ key: 'pool', operator: 'In', values: [value] }],
    }))
    const toleration = { key: 'spot', operator: 'Exists' }
    const spec = podSpec([{ ...SPOT, tolerations: [toleration] }, FIXED])
    expect(spec.affinity).toEqual({
      podAntiAffinity: expect.anything(),
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [spot, fixed] },
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 100, preference: spot },
          { weight: 75, preference: fixed },
        ],
      },
    })
    expect(spec.tolerations).toEqual([toleration])
  })

  it('allow any node when a tier does', () => {
    const { affinity } = podSpec([SPOT, { name: 'any', hourlyCost: 3 }])
    expect(affinity).toEqual({
      podAntiAffinity: expect.anything(),
      nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [expect.objectContaining({ weight: 100 })] },
    })
  })

  it('define the cost of workers, and the highest for unknown nodes', () => {
    const pool = read({ tiers: [SPOT, FIXED] })
    const pods = [on('a'), on('a'), on('b'), on('c'), on(undefined), { ...on('a'), metadata: leaving() }]
    expect(countTiers(pool, pods, findNode)).toEqual({
      tiers: [
        { name: 'spot', replicas: 2 },
        { name: 'fixed', replicas: 2 },
      ],
      hourlyCost: 6.8,
    })
    expect(countTiers(pool, pods, () => undefined)).toMatchObject({ hourlyCost: 10 })
    expect(highestCost(pool)).toBe(2.5)
  })

  it('default to one tier', () => {
    const pool = read({ capacity: { hourlyCost: 0.5 } })
    expect(countTiers(pool, [on('a'), on(undefined)], findNode)).toEqual({
      tiers: [{ name: 'on-demand', replicas: 1 }],
      hourlyCost: 0.5,
    })
    expect(highestCost(pool)).toBe(0.5)
  })
})

function podSpec(tiers: readonly object[]) {
  return renderReplicaSet(read({ tiers }), [], 1).spec.template.spec
}

function read(spec: object) {
  const found = workerPools.read({
    apiVersion: 'drape.dev/v1alpha1',
    kind: 'WorkerPool',
    metadata: { name: 'mixed', namespace: 'shop', uid: 'f0f0', generation: 1 },
    spec: {
      engines: ['warp'],
      replicas: 1,
      scaling: { mode: 'Fixed' },
      template: { image: 'drape/worker:test', requests: { cpu: 1 } },
      ...spec,
    },
  })
  if ('problems' in found) throw new Error(found.problems)
  return found.object
}

function on(nodeName: string | undefined): Pod {
  return { metadata: { name: 'pod' }, spec: { nodeName } }
}

function leaving() {
  return { name: 'pod', deletionTimestamp: '2026-01-01T00:00:00Z' }
}

function findNode(name: string) {
  return name in NODES ? { metadata: { name, labels: NODES[name] } } : undefined
}
