import type { V1OwnerReference } from '@kubernetes/client-node'

/** Identifies a resource type of the API: its group ('' for the core group), version, plural and kind. */
export interface ResourceType {
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
}

export interface ManagedFields {
  readonly time?: string
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
  /** The server's record of field ownership. */
  readonly managedFields?: readonly ManagedFields[]
}

/** Any object of the API. The caller knows the fields besides its metadata. */
export interface KubernetesObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: ObjectMeta
}

/** Name of an object; `namespace` is absent for cluster-scoped objects. */
export interface ObjectName {
  readonly namespace?: string
  readonly name: string
}

/** "apps/v1", or "v1" for the core. */
export function apiVersionOf({ group, version }: ResourceType): string {
  return group === '' ? version : `${group}/${version}`
}

/** The path of all objects of a type, of those in a namespace, or of one object. */
export function pathOf(type: ResourceType, { namespace, name }: Partial<ObjectName> = {}): string {
  const root = type.group === '' ? '/api' : `/apis/${type.group}`
  const place = type.namespaced && namespace !== undefined ? ['namespaces', namespace] : []
  return [root, type.version, ...place, type.plural, ...(name === undefined ? [] : [name])].join('/')
}

/** "namespace/name": unique per type. */
export function keyOf({ namespace, name }: ObjectName): string {
  return `${namespace ?? ''}/${name}`
}

/** Makes `owner` the controller of an object: the object is deleted with its owner. */
export function ownedBy(owner: KubernetesObject): V1OwnerReference {
  const { apiVersion, kind, metadata } = owner
  if (apiVersion === undefined || kind === undefined || metadata.uid === undefined)
    throw new Error('An owner has to come from the API')
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, blockOwnerDeletion: true }
}
