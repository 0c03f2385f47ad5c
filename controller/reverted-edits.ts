import { FIELD_MANAGER } from './field-manager.ts'
import type { OnReverted } from './runtime/apply-once.ts'
import { type RecordEvent, warning } from './runtime/events.ts'

/** Records an event on the owner of an object whose manual change was reverted. */
export function createReportReverted(record: RecordEvent): OnReverted {
  return async ({ kind }, { metadata }) => {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true)
    if (owner === undefined) return
    const others = (metadata.managedFields ?? []).flatMap(({ manager = '', fieldsV1 = {} }) =>
      manager !== FIELD_MANAGER && 'f:spec' in fieldsV1 ? [manager] : [],
    )
    const by = others.length > 0 ? ` by ${[...new Set(others)].sort().join(', ')}` : ''
    const message = `A change of ${kind} ${metadata.name}${by} was reverted. Change the ${owner.kind} instead.`
    const { apiVersion, kind: ownerKind, name, uid } = owner
    await record(
      { apiVersion, kind: ownerKind, metadata: { namespace: metadata.namespace, name, uid } },
      warning('EditReverted', message),
    )
  }
}
