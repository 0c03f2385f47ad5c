import type { V1OwnerReference } from '@kubernetes/client-node'

/** Names a kind of objects in the API: its group ('' for the core), version, plural and kind. */
export interface ResourceType {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
}

export interface ManagedFields {
  readonly manager?: string
  readonly subresource?: string
  readonly fieldsV1?: object
}

export interface ObjectMeta {
  readonly name: string
  readonly namespace?: string
  readonly uid?: string
  readonly resourceVersion?: string
  readonly generation?: number
  readonly creationTimestamp?: string
  readonly deletionTimestamp?: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly finalizers?: readonly string[]
  readonly ownerReferences?: readonly V1OwnerReference[]
  /** The server's record of who set what. */
  readonly managedFields?: readonly ManagedFields[]
}

/** Any object of the API; the caller knows what lies beside its metadata. */
export interface KubernetesObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMeta
}

/** Where an object lies; `namespace` is missing for those that belong to the whole cluster. */
export interface ObjectName {
  readonly namespace?: string
  readonly name: string
}

/** "apps/v1", or "v1" for the core. */
export function apiVersionOf({ group, version }: ResourceType): string {
  return group === '' ? version : `${group}/${version}`
}

/** The path of all objects of a type, of those in a namespace, or of one of them and its subresource. */
export function pathOf(
  type: ResourceType,
  { namespace, name, subresource }: { namespace?: string; name?: string; subresource?: string } = {},
): string {
  const root = type.group === '' ? '/api' : `/apis/${type.group}`
  const place = type.namespaced && namespace !== undefined ? ['namespaces', namespace] : []
  const rest = [name, subresource].filter((part) => part !== undefined)
  return [root, type.version, ...place, type.plural, ...rest].join('/')
}

/** "namespace/name": one text for each object of a type. */
export function keyOf({ namespace, name }: ObjectName): string {
  return `${namespace ?? ''}/${name}`
}

/** Says that `owner` controls an object: with the one the other is deleted. */
export function ownedBy(owner: KubernetesObject): V1OwnerReference {
  const { apiVersion, kind, metadata } = owner
  if (apiVersion === undefined || kind === undefined || metadata.uid === undefined)
    throw new Error('An owner has to come from the API')
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true }
}
