import type { Log } from '../../api/shared/telemetry/log.ts'
import type { Connection } from '../runtime/connection.ts'
import type { KubernetesError } from '../runtime/kubernetes-error.ts'
import type { KubernetesObject, ResourceType } from '../runtime/resource.ts'
import { type Watched, type WatchOptions, watchObjects } from '../runtime/watch.ts'

export type WatchKind = ReturnType<typeof createWatchKind>

/** Returns a function that watches one kind in the namespace. */
export function createWatchKind({
  connection,
  namespace,
  log,
}: {
  connection: Connection
  /** Namespace of the objects; all namespaces when undefined. */
  namespace: string | undefined
  log: Log
}) {
  return <T extends KubernetesObject>(
    type: ResourceType,
    onChange: (object: T) => void,
    more: Pick<WatchOptions<T>, 'labelSelector' | 'keep'> = {},
  ): Watched<T> => {
    const onFault = (error: KubernetesError) => {
      const level = [403, 404].includes(error.status) ? 'warn' : 'debug'
      log[level]({ err: error, kind: type.kind }, 'watch interrupted')
    }
    return watchObjects<T>({ connection, type, namespace, onChange, onFault, ...more })
  }
}
