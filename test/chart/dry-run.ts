import { pathOf, type ResourceType } from '../../controller/runtime/resource.ts'
import { askApiServer } from '../cluster/ask-api-server.ts'
import type { TestNamespace } from '../cluster/namespace.ts'
import type { Rendered } from './charts.ts'

/** What an API server says against objects in a namespace, a line for each that it would not take; none is made. */
export type DryRun = (objects: readonly Rendered[]) => Promise<string[]>

/** Asks strictly: a field that the server does not know is a fault. The server's kinds are those of this moment. */
export async function createDryRun(place: TestNamespace): Promise<DryRun> {
  const { apply } = await createKubectl(place)
  return async (objects) => {
    const answers = await Promise.all(
      objects.map((object) =>
        apply(object, { dryRun: true }).then(
          () => null,
          (error: Error) => `${object.kind} ${object.metadata.name}: ${error.message}`,
        ),
      ),
    )
    return answers.filter((answer) => answer !== null)
  }
}

/** What `kubectl apply --server-side` and `kubectl get` do with objects in the namespace; both throw what the server refuses. */
export interface Kubectl {
  /** The object as it is afterwards, or would be. */
  apply(object: Rendered, options?: { dryRun?: boolean }): Promise<Rendered>
  get(object: Rendered): Promise<Rendered>
}

export async function createKubectl(place: TestNamespace): Promise<Kubectl> {
  const { connection, namespace: ours } = place
  const types = await discover(place)
  const placeOf = ({ apiVersion, kind, metadata: { name } }: Rendered) => {
    const type = types.get(`${apiVersion} ${kind}`)
    if (type === undefined) throw new Error(`${apiVersion} ${kind} is unknown`)
    const namespace = type.namespaced ? ours : undefined
    return { namespace, path: pathOf(type, { namespace, name }) }
  }
  return {
    apply: async (object, { dryRun = false } = {}) => {
      const { namespace, path } = placeOf(object)
      const query = { fieldManager: 'test', fieldValidation: 'Strict', force: 'true', ...(dryRun && { dryRun: 'All' }) }
      const body = { ...object, metadata: { ...object.metadata, namespace } }
      const contentType = 'application/apply-patch+yaml'
      return JSON.parse(await askApiServer(connection, { method: 'PATCH', path, query, contentType, body }))
    },
    get: async (object) => JSON.parse(await askApiServer(connection, { path: placeOf(object).path })),
  }
}

/** The kinds that the server knows, by version and kind. */
async function discover({ connection }: TestNamespace): Promise<Map<string, ResourceType>> {
  const read = async <T>(path: string): Promise<T> => JSON.parse(await askApiServer(connection, { path }))
  const { groups } = await read<{ groups: { versions: { groupVersion: string }[] }[] }>('/apis')
  const versions = ['v1', ...groups.flatMap(({ versions }) => versions.map(({ groupVersion }) => groupVersion))]
  const found = new Map<string, ResourceType>()
  for (const apiVersion of versions) {
    const path = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
    const { resources } = await read<{ resources: { name: string; kind: string; namespaced: boolean }[] }>(path)
    const [version, group = ''] = apiVersion.split('/').reverse()
    for (const { name, kind, namespaced } of resources) {
      if (!name.includes('/')) found.set(`${apiVersion} ${kind}`, { group, version, plural: name, kind, namespaced })
    }
  }
  return found
}
