import { expect, it } from 'vitest'
import { planPrefetch } from '../../../controller/engine/prefetch.ts'
import { type Engine, engines } from '../../../controller/engine/resource.ts'
import { type WorkerPool, workerPools } from '../../../controller/worker-pool/resource.ts'

const reference = `registry.example/models@sha256:${'b'.repeat(64)}`
const files = [{ path: 'model.onnx', sha256: 'a'.repeat(64), bytes: 1 }]

function object<T>(read: { readonly object: T } | { readonly problems: string }): T {
  if ('problems' in read) throw new Error(read.problems)
  return read.object
}

it('prefetch Jobs of engines with the same source have different names, however long those of the engines are', () => {
  const pool: WorkerPool = object(
    workerPools.read({
      metadata: { name: 'gpu', namespace: 'shop', uid: 'p', generation: 1 },
      spec: {
        engines: ['any'],
        replicas: 1,
        scaling: { mode: 'Fixed' },
        template: { image: 'drape/worker:test', requests: { cpu: 1 } },
      },
    }),
  )
  const namesOf = (name: string) => {
    const engine: Engine = object(
      engines.read({
        apiVersion: 'drape.dev/v1alpha1',
        kind: 'Engine',
        metadata: { name, namespace: 'shop', uid: name, generation: 1 },
        spec: {
          ...{ license: { name: 'MIT', commercialUse: true }, files, source: { image: { reference } } },
          prefetch: { enabled: true },
        },
      }),
    )
    const nodes = [{ metadata: { name: 'node', uid: 'n' } }]
    return planPrefetch({ engine, pool, nodes, jobs: [] }).make.map(({ metadata }) => metadata.name)
  }
  const long = 'e'.repeat(47)
  const names = [`${long}1`, `${long}2`, 'short'].flatMap(namesOf)
  expect(new Set(names).size).toBe(3)
  for (const name of names) expect(name.length).toBeLessThanOrEqual(63)
})
