import type { OnReverted } from './apply-once.ts'
import { type RecordEvent, warning } from './events.ts'
import { FIELD_MANAGER } from './field-manager.ts'
import type { KubernetesObject } from './resource.ts'

/** Records an event on the owner of an object whose manual change was reverted. */
export function createReportReverted(record: RecordEvent): OnReverted {
  return async ({ kind }, { metadata, writers = [] }) => {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
    if (owner === undefined) return
    const by = writers.length > 0 ? ` by ${writers.join(', ')}` : ''
    const message = `A change of ${kind} ${metadata.name}${by} was reverted. Change the ${owner.kind} instead.`
    const { apiVersion, kind: ownerKind, name, uid } = owner
    await record(
      { apiVersion, kind: ownerKind, metadata: { namespace: metadata.namespace, name, uid } },
      warning('EditReverted', message),
    )
  }
}

/**
 * The other field managers that wrote an object last, since the controller did: an earlier change was reverted or has nothing to do with
 * the controller's fields. No manager is recorded for a field that was removed.
 */
export function lastWriters({ metadata: { managedFields = [] } }: KubernetesObject): readonly string[] {
  const writes = managedFields.filter(({ subresource }) => subresource !== 'status')
  const others = writes.filter(({ manager }) => manager !== FIELD_MANAGER)
  // The times of the API server have one format.
  const last = writes.reduce((latest, { time = '' }) => (time > latest ? time : latest), '')
  return [...new Set(others.flatMap(({ manager, time = '' }) => (time === last && manager ? [manager] : [])))].sort()
}
