import { generatedSecretsOf } from './generated-secrets.ts'
import type { Rendered } from './render.ts'

/** By kind the fields that Kubernetes, or the data behind an object, do not let change. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  Deployment: ['spec.selector'],
  StatefulSet: ['spec.selector', 'spec.serviceName', 'spec.podManagementPolicy', 'spec.volumeClaimTemplates'],
  Service: ['spec.clusterIP', 'spec.selector'],
  PersistentVolumeClaim: ['spec.accessModes', 'spec.storageClassName', 'spec.volumeName', 'spec.selector'],
  RoleBinding: ['roleRef'],
  ClusterRoleBinding: ['roleRef'],
  Secret: ['type'],
}
/** Objects whose name is known outside: gone or called otherwise, data or callers are lost. */
const LASTING = ['PersistentVolumeClaim', 'Secret', 'Service', 'WorkerPool', 'StatefulSet']

/** What an upgrade must not change of the objects of a chart, by kind and name. */
export type ImmutableFields = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Hooks are made anew each time, so nothing of them is asked for but the Secrets that they generate. */
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

/** What of an earlier chart is otherwise in a later one, in words; an empty list where an upgrade goes through. */
export function findForbiddenChanges(earlier: ImmutableFields, later: ImmutableFields): string[] {
  return Object.entries(earlier).flatMap(([object, fields]) => {
    const now = later[object]
    const lasts = LASTING.includes(object.split(' ')[0])
    if (now === undefined) return lasts ? [`${object} is gone`] : []
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
