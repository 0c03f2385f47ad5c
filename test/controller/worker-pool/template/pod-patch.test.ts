import { expect, it } from 'vitest'
import { patchPod } from '../../../../controller/worker-pool/template/pod-patch.ts'

const POD = {
  containers: [
    { name: 'worker', image: 'a', env: [{ name: 'A', value: '1' }], ports: [{ containerPort: 9090, protocol: 'TCP' }] },
  ],
  tolerations: [{ key: 'gpu' }],
  nodeSelector: { zone: 'a', disk: 'fast' },
}

it('a patch of a pod merges by name, replaces other lists and removes with null', () => {
  const patch = {
    containers: [
      { name: 'proxy', image: 'b', command: null },
      {
        name: 'worker',
        env: [
          { name: 'B', value: '2' },
          { name: 'A', value: '3' },
        ],
        ports: [{ containerPort: 9090, protocol: 'TCP', name: 'probes' }],
      },
    ],
    tolerations: [{ key: 'spot' }],
    nodeSelector: { zone: null, arch: 'arm64' },
    volumes: [{ name: 'scratch', emptyDir: {} }],
  }
  const before = structuredClone(POD)
  expect(patchPod(POD, patch)).toEqual({
    containers: [
      {
        name: 'worker',
        image: 'a',
        env: [
          { name: 'A', value: '3' },
          { name: 'B', value: '2' },
        ],
        ports: [{ containerPort: 9090, protocol: 'TCP', name: 'probes' }],
      },
      { name: 'proxy', image: 'b' },
    ],
    tolerations: [{ key: 'spot' }],
    nodeSelector: { disk: 'fast', arch: 'arm64' },
    volumes: [{ name: 'scratch', emptyDir: {} }],
  })
  expect(POD).toEqual(before)
})
