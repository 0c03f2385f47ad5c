import { describe, expect, it } from 'vitest'
import { canRun, readPlacedSpec, selectsNode } from '../../../controller/image-prefetch/placement.ts'
import { readQuantity } from '../../../controller/image-prefetch/quantity.ts'

const READY = [{ type: 'Ready', status: 'True' }]
const node = (more: object = {}) => ({
  metadata: { name: 'gpu-1', labels: { zone: 'a', gpus: '4' } },
  spec: {},
  status: { conditions: READY, allocatable: { cpu: '3920m', memory: '15Gi', 'nvidia.com/gpu': '1' } },
  ...more,
})
const placed = (spec: object) => {
  const found = readPlacedSpec({ containers: [{ name: 'worker', image: 'worker:1' }], ...spec })
  if (found === null) throw new Error('not readable')
  return found
}
const requiring = (...nodeSelectorTerms: object[]) =>
  placed({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } })
const where = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 && { values }) }],
})

describe('a node', () => {
  it.for([
    [placed({}), true],
    [placed({ nodeSelector: { zone: 'a' } }), true],
    [placed({ nodeSelector: { zone: 'a', disk: 'fast' } }), false],
    [requiring(where('zone', 'In', 'b', 'a')), true],
    [requiring(where('zone', 'In', 'b')), false],
    [requiring(where('zone', 'In', 'b'), where('gpus', 'Gt', '3')), true],
    [requiring(where('gpus', 'Lt', '4')), false],
    [requiring(where('zone', 'NotIn', 'a')), false],
    [requiring(where('disk', 'NotIn', 'a')), true],
    [requiring(where('disk', 'Exists')), false],
    [requiring(where('disk', 'DoesNotExist')), true],
    [requiring({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['gpu-2'] }] }), false],
    [requiring({}), false],
  ] as const)('is selected by its labels and its name as the scheduler does it (%#)', ([spec, isSelected]) => {
    expect(selectsNode(spec, node())).toBe(isSelected)
  })

  const tainted = node({ spec: { taints: [{ key: 'nvidia.com/gpu', value: 'present', effect: 'NoSchedule' }] } })
  const tolerating = (toleration: object) => placed({ tolerations: [toleration] })
  const requesting = (requests: object) =>
    placed({ containers: [{ name: 'worker', image: 'worker:1', resources: { requests } }] })
  it.for([
    [placed({}), node(), true],
    [placed({}), tainted, false],
    [tolerating({ operator: 'Exists' }), tainted, true],
    [tolerating({ key: 'nvidia.com/gpu', operator: 'Exists', effect: 'NoExecute' }), tainted, false],
    [tolerating({ key: 'nvidia.com/gpu', value: 'present' }), tainted, true],
    [tolerating({ key: 'nvidia.com/gpu', value: 'absent' }), tainted, false],
    [placed({}), node({ spec: { taints: [{ key: 'spot', effect: 'PreferNoSchedule' }] } }), true],
    [placed({}), node({ status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }), false],
    [requesting({ cpu: '3.9', memory: '15Gi', 'nvidia.com/gpu': 1 }), node(), true],
    [requesting({ cpu: 4 }), node(), false],
    [requesting({ memory: '16G' }), node(), true],
    [requesting({ 'nvidia.com/gpu': '2' }), node(), false],
    [requesting({ 'amd.com/gpu': '1' }), node(), false],
  ] as const)('can run a worker when it is ready, tolerated and large enough (%#)', ([spec, found, can]) => {
    expect(canRun(spec, found)).toBe(can)
  })
})

it('an invalid pod template is rejected', () => {
  for (const spec of [{}, { containers: 'none' }, { containers: [], nodeSelector: { a: 1 } }, { containers: [{}] }])
    expect(readPlacedSpec(spec)).toBeNull()
})

it('quantities are parsed in Kubernetes notation', () => {
  const read = ['500m', '1.5', '4Gi', '2M', '1e3', '.5', 7].map(readQuantity)
  expect(read).toEqual([0.5, 1.5, 4 * 2 ** 30, 2e6, 1000, 0.5, 7])
  expect(readQuantity('lots')).toBeNaN()
})
