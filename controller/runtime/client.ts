import { type ConfigurationOptions, CustomObjectsApi, PatchStrategy } from '@kubernetes/client-node'
import { withPartSpan } from '../../api/shared/telemetry.ts'
import type { Connection } from './connection.ts'
import { KubernetesError } from './kubernetes-error.ts'
import { answered, type Fence, requestOptions } from './request.ts'
import { apiVersionOf, type KubernetesObject, type ObjectName, type ResourceType } from './resource.ts'

/** An object as it is sent: its type is said beside it. */
export interface Sent {
  readonly metadata: KubernetesObject['metadata']
  readonly [field: string]: unknown
}

/** Reads and writes objects. Every method throws a `KubernetesError` when the API says no for another reason than named here. */
export interface Client {
  /** The object, or null when there is none. */
  get<T extends KubernetesObject>(type: ResourceType, name: ObjectName): Promise<T | null>
  list<T extends KubernetesObject>(type: ResourceType, options?: ListOptions): Promise<T[]>
  /**
   * Server-side apply: what is said here is so afterwards and belongs to this field manager, and what it said earlier and does not
   * say any more is gone. Takes fields over from others with `force` (the default).
   */
  apply<T extends KubernetesObject>(type: ResourceType, object: Sent, options?: ApplyOptions): Promise<T>
  create<T extends KubernetesObject>(type: ResourceType, object: Sent): Promise<T>
  /** Replaces an object. With its `resourceVersion` this fails with 409 when another writer was faster. */
  replace<T extends KubernetesObject>(type: ResourceType, object: Sent): Promise<T>
  /** JSON merge patch; null when the object is gone. */
  patch<T extends KubernetesObject>(
    type: ResourceType,
    name: ObjectName,
    patch: object,
    options?: WriteOptions,
  ): Promise<T | null>
  /** Deletes an object together with what it owns, unless that is to stay (`orphan`); one that is gone already is fine. */
  delete(type: ResourceType, name: ObjectName, options?: { orphan?: boolean }): Promise<void>
}

export interface ListOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

export interface WriteOptions {
  readonly subresource?: 'status' | 'scale'
}

export interface ApplyOptions extends WriteOptions {
  readonly force?: boolean
}

const READ_MS = 30_000
const WRITE_MS = 10_000
const PAGE = 500
const SUFFIXES = { status: 'Status', scale: 'Scale' } as const

export interface ClientOptions {
  readonly fieldManager: string
  readonly fence?: Fence
  /** Is called with each object as a write left it. */
  readonly onWritten?: (type: ResourceType, object: KubernetesObject) => void
}

type Scope = 'Cluster' | 'Namespaced'

interface Write extends ApplyOptions {
  readonly name: ObjectName
  readonly body: object
  readonly contentType?: string
}

const VERBS = { create: 'POST', replace: 'PUT', patch: 'PATCH' } as const

/** A client whose writes carry the name `fieldManager` and pass the fence. */
export function createClient(
  connection: Connection,
  { fieldManager, fence = () => WRITE_MS, onWritten = () => {} }: ClientOptions,
): Client {
  const api = openApi(connection)
  const send = <T>(
    verb: string,
    { plural }: ResourceType,
    call: (options: ConfigurationOptions) => Promise<T>,
    contentType?: string,
  ) =>
    withPartSpan(`${verb} ${plural}`, { kind: 'client' }, () => {
      const signal = AbortSignal.timeout(Math.max(1, Math.floor(Math.min(fence(), WRITE_MS))))
      return answered(call(requestOptions({ signal, fence, contentType })))
    })
  const write = async <T extends KubernetesObject>(action: keyof typeof VERBS, type: ResourceType, parts: Write) => {
    const { name, subresource, contentType, ...more } = parts
    const scoped = `${scopeOf(type, name)}CustomObject` as const
    const method = subresource ? (`patch${scoped}${SUFFIXES[subresource]}` as const) : (`${action}${scoped}` as const)
    const request = { ...placeOf(type, name), ...more, fieldManager }
    const written: T = await send(VERBS[action], type, (options) => api[method](request, options), contentType)
    onWritten(type, written)
    return written
  }

  return {
    get: (type, name) => {
      const options = requestOptions({ signal: AbortSignal.timeout(READ_MS) })
      return nullWhenGone(answered(api[`get${scopeOf(type, name)}CustomObject`](placeOf(type, name), options)))
    },
    list: async <T extends KubernetesObject>(type: ResourceType, options: ListOptions = {}) => {
      const items: T[] = []
      for await (const page of listPages<T>(connection, type, { ...options, limit: PAGE })) items.push(...page.items)
      return items
    },
    apply: (type, object, { subresource, force = true } = {}) => {
      const body = typed(type, object)
      const contentType = PatchStrategy.ServerSideApply
      return write('patch', type, { name: object.metadata, body, subresource, force, contentType })
    },
    create: (type, object) => write('create', type, { name: object.metadata, body: typed(type, object) }),
    replace: (type, object) => write('replace', type, { name: object.metadata, body: typed(type, object) }),
    patch: (type, name, body, { subresource } = {}) =>
      nullWhenGone(write('patch', type, { name, body, subresource, contentType: PatchStrategy.MergePatch })),
    delete: async (type, name, { orphan = false } = {}) => {
      const request = { ...placeOf(type, name), propagationPolicy: orphan ? 'Orphan' : 'Background' }
      const call = (options: ConfigurationOptions) => api[`delete${scopeOf(type, name)}CustomObject`](request, options)
      await nullWhenGone(send('DELETE', type, call))
    },
  }
}

export interface Page<T> {
  readonly metadata: { readonly continue?: string; readonly resourceVersion: string }
  readonly items: readonly T[]
}

/** The objects of a type, at most `limit` in each page. Throws a `KubernetesError`. */
export async function* listPages<T extends KubernetesObject>(
  connection: Connection,
  type: ResourceType,
  { limit, signal, ...options }: ListOptions & { readonly limit: number; readonly signal?: AbortSignal },
): AsyncGenerator<Page<T>> {
  const api = openApi(connection)
  let next: string | undefined
  do {
    const timeout = AbortSignal.timeout(READ_MS)
    const request = { ...placeOf(type, { ...options, name: '' }), ...options, limit, _continue: next }
    const call = requestOptions({ signal: signal ? AbortSignal.any([signal, timeout]) : timeout })
    const page: Page<T> = await answered(api[`list${scopeOf(type, options)}CustomObject`](request, call))
    // The items of a list do not say what they are.
    yield { ...page, items: page.items.map((item) => typed(type, item)) }
    next = page.metadata.continue || undefined
  } while (next !== undefined)
}

/** It passes objects of any type as they are; the package's APIs for single types would drop the fields that they do not know. */
function openApi({ config }: Connection): CustomObjectsApi {
  return config.makeApiClient(CustomObjectsApi)
}

function scopeOf({ namespaced }: ResourceType, { namespace }: { readonly namespace?: string }): Scope {
  return namespaced && namespace !== undefined ? 'Namespaced' : 'Cluster'
}

function placeOf({ group, version, plural }: ResourceType, { namespace = '', name }: ObjectName) {
  return { group, version, plural, namespace, name }
}

function typed<T extends object>(type: ResourceType, object: T): T {
  return { apiVersion: apiVersionOf(type), kind: type.kind, ...object }
}

async function nullWhenGone<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call
  } catch (error) {
    if (error instanceof KubernetesError && error.status === 404) return null
    throw error
  }
}
