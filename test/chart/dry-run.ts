import { pathOf, type ResourceType } from '../../controller/runtime/resource.ts'
import { askApiServer } from '../cluster/ask-api-server.ts'
import type { TestNamespace } from '../cluster/namespace.ts'
import type { Rendered } from './charts.ts'

/** What an API server says against objects in a namespace, a line for each that it would not take; none is made. */
export type DryRun = (objects: readonly Rendered[]) => Promise<string[]>

/** Asks strictly: a field that the server does not know is a fault. The server's kinds are those of this moment. */
export async function createDryRun(place: TestNamespace): Promise<DryRun> {
  const types = await discover(place)
  return async (objects) => {
    const answers = await Promise.all(objects.map((object) => tryToApply(object, place, types)))
    return answers.filter((answer) => answer !== null)
  }
}

async function tryToApply(
  object: Rendered,
  { connection, namespace: ours }: TestNamespace,
  types: ReadonlyMap<string, ResourceType>,
): Promise<string | null> {
  const type = types.get(`${object.apiVersion} ${object.kind}`)
  if (type === undefined) return `${object.apiVersion} ${object.kind} is unknown`
  const namespace = type.namespaced ? ours : undefined
  const metadata = { ...object.metadata, namespace }
  const path = pathOf(type, { namespace, name: object.metadata.name })
  const query = { dryRun: 'All', fieldManager: 'test', fieldValidation: 'Strict', force: 'true' }
  const body = { ...object, metadata }
  try {
    const contentType = 'application/apply-patch+yaml'
    await askApiServer(connection, { method: 'PATCH', path, query, contentType, body })
    return null
  } catch (error) {
    return `${object.kind} ${object.metadata.name}: ${error instanceof Error ? error.message : error}`
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
