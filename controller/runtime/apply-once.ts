import { createHash } from 'node:crypto'
import type { Client, Sent } from './client.ts'
import { type KubernetesObject, keyOf, type ResourceType } from './resource.ts'

/** Applies an object unless it is known to be applied already. Resolves to whether a write was sent. */
export type ApplyOnce = (type: ResourceType, object: Sent, live: Live | undefined) => Promise<boolean>

/** An object as read from the API server; `touched`: another writer may have changed it. */
export interface Live extends KubernetesObject {
  readonly touched?: boolean
  /** The other field managers that wrote the object last. */
  readonly writers?: readonly string[]
  readonly spec?: { readonly replicas?: number }
}

/** Called after an apply that reverted changes of other writers; `live` is the object before the apply. */
export type OnReverted = (type: ResourceType, live: Live) => Promise<void>

/**
 * Remembers each applied object and the generation that the server returned: while both are equal the object is unchanged, and
 * nothing is sent, unless another writer has changed its labels or owners, which have no generation. An object that an earlier process
 * applied is recognised by a digest in an annotation, unless another writer has set a field of its spec.
 */
export function createApplyOnce(
  client: Client,
  { annotation, onReverted = async () => {} }: { annotation: string; onReverted?: OnReverted },
): ApplyOnce {
  const applied = new Map<string, { digest: string; uid?: string; generation?: number; isMutated: boolean }>()
  return async (type, object, live) => {
    const key = `${type.plural} ${keyOf(object.metadata)}`
    const digest = digestOf(object)
    const last = applied.get(key)
    const unchanged = live && last?.uid === live.metadata.uid && last?.generation === live.metadata.generation
    // An admission webhook that changes the labels would change them again.
    const isMutated = last?.digest === digest && last.isMutated
    const hasOurMetadata = live !== undefined && (isMutated || hasMetadata(live, object))
    if (unchanged && last?.digest === digest && hasOurMetadata) return false
    const isApplied = live?.touched === false && live.metadata.annotations?.[annotation] === digest
    const known = isApplied && hasOurMetadata && hasReplicas(live, object)
    const { metadata } = known ? live : await client.apply(type, annotated(object, { [annotation]: digest }))
    const { uid, generation } = metadata
    applied.set(key, { digest, uid, generation, isMutated: isMutated || !hasMetadata({ metadata }, object) })
    if (live?.metadata.annotations?.[annotation] === digest) {
      const wasEdited = generationOf(live) > (last?.generation ?? -1) && generationOf({ metadata }) > generationOf(live)
      // The owner gets the report, even if the change removed the reference to it.
      const { ownerReferences } = object.metadata
      if (wasEdited || !hasOurMetadata)
        await onReverted(type, { ...live, metadata: { ...live.metadata, ownerReferences } })
    }
    return !known
  }
}

function generationOf({ metadata }: KubernetesObject): number {
  return metadata.generation ?? 0
}

function hasMetadata({ metadata }: Live, { metadata: ours }: Sent): boolean {
  const hasLabels = Object.entries(ours.labels ?? {}).every(([name, value]) => metadata.labels?.[name] === value)
  const owners = new Set(metadata.ownerReferences?.map(({ uid }) => uid))
  return hasLabels && (ours.ownerReferences ?? []).every(({ uid }) => owners.has(uid))
}

/** Scaling an object to zero leaves no trace in `managedFields`. */
function hasReplicas(live: Live, { spec }: Sent): boolean {
  const { replicas } = (spec ?? {}) as { replicas?: number }
  return replicas === undefined || live.spec?.replicas === replicas
}

/** Whether writers other than `fieldManager` have set fields of the spec, according to `managedFields`. */
export function isTouched({ metadata }: KubernetesObject, fieldManager: string): boolean {
  const { managedFields } = metadata
  if (managedFields === undefined) return true
  return managedFields.some(
    ({ manager, subresource, fieldsV1 }) =>
      manager !== fieldManager && subresource !== 'status' && fieldsV1 !== undefined && 'f:spec' in fieldsV1,
  )
}

function annotated(object: Sent, annotations: Readonly<Record<string, string>>): Sent {
  const { metadata } = object
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } } }
}

function digestOf(object: Sent): string {
  return createHash('sha256').update(JSON.stringify(object)).digest('hex').slice(0, 16)
}
