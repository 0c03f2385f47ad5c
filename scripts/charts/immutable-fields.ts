import { generatedSecretsOf } from './generated-secrets.ts'
import type { Rendered } from './render.ts'

/** Fields by kind that Kubernetes, or an object's data, does not allow to change. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['spec.selector'],
  StatefulSet: ['spec.selector', 'spec.serviceName', 'spec.podManagementPolicy', 'spec.volumeClaimTemplates'],
  Service: ['spec.clusterIP', 'spec.selector'],
  PersistentVolumeClaim: ['spec.accessModes', 'spec.storageClassName', 'spec.volumeName', 'spec.selector'],
  RoleBinding: ['roleRef'],
  ClusterRoleBinding: ['roleRef'],
  Secret: ['type'],
}
/** Objects with a stable name: a deletion or rename loses data or breaks callers. */
const LASTING = ['PersistentVolumeClaim', 'Secret', 'Service', 'WorkerPool', 'StatefulSet']

/** Fields of the chart's objects that an upgrade must not change, by kind and name. */
export type ImmutableFields = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Hooks are recreated each time, so only the Secrets that they generate are checked. */
export function immutableFieldsOf(objects: readonly Rendered[]): ImmutableFields {
  const lasting = objects.filter(({ kind, metadata }) => {
    const isHook = metadata.annotations?.['helm.sh/hook'] !== undefined
    return !isHook && (kind in FIELDS || LASTING.includes(kind))
  })
  const entries = lasting.map((object) => [
    `${object.kind} ${object.metadata.name}`,
    Object.fromEntries((FIELDS[object.kind] ?? []).map((path) => [path, at(object, path) ?? null])),
  ])
  const generated = generatedSecretsOf(objects).map(({ metadata }) => [`Secret ${metadata.name}`, { type: 'Opaque' }])
  return Object.fromEntries([...entries, ...generated].sort())
}

/** Describes forbidden changes from an earlier to a later chart; empty if the upgrade is possible. */
export function findForbiddenChanges(earlier: ImmutableFields, later: ImmutableFields): string[] {
  return Object.entries(earlier).flatMap(([object, fields]) => {
    const now = later[object]
    const lasts = LASTING.includes(object.split(' ')[0])
    if (now === undefined) return lasts ? [`${object} is missing`] : []
    return Object.entries(fields)
      .filter(([path, value]) => JSON.stringify(now[path] ?? null) !== JSON.stringify(value))
      .map(
        ([path, value]) => `${object}: ${path} was ${JSON.stringify(value)}, is ${JSON.stringify(now[path] ?? null)}`,
      )
  })
}

function at(object: unknown, path: string): unknown {
  return path.split('.').reduce((value, name) => (value as Record<string, unknown> | undefined)?.[name], object)
}
