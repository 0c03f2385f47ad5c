import { type ConfigurationOptions, CustomObjectsApi, PatchStrategy } from '@kubernetes/client-node'
import { withPartSpan } from '../../api/shared/telemetry/telemetry.ts'
import type { Connection } from './connection.ts'
import { KubernetesError } from './kubernetes-error.ts'
import { answered, type Fence, requestOptions } from './request.ts'
import { apiVersionOf, type KubernetesObject, type ObjectName, type ResourceType } from './resource.ts'

/** An object to send; its type is a separate argument. */
export interface Sent {
  readonly metadata: KubernetesObject['metadata']
  readonly [field: string]: unknown
}

/** Reads and writes objects. Every method throws a `KubernetesError` on an error response, unless stated otherwise. */
export interface Client {
  /** The object; null if it does not exist. */
  get<T extends KubernetesObject>(type: ResourceType, name: ObjectName): Promise<T | null>
  list<T extends KubernetesObject>(type: ResourceType, options?: ListOptions): Promise<T[]>
  /**
   * Server-side apply: sets the given fields, takes ownership of them for this field manager, and removes fields that it set
   * earlier and no longer sends. Takes fields over from other managers with `force` (the default).
   */
  apply<T extends KubernetesObject>(type: ResourceType, object: Sent, options?: ApplyOptions): Promise<T>
  create<T extends KubernetesObject>(type: ResourceType, object: Sent): Promise<T>
  /** Replaces an object. With `resourceVersion` fails with 409 if another writer has changed the object. */
  replace<T extends KubernetesObject>(type: ResourceType, object: Sent): Promise<T>
  /** JSON merge patch; null if the object does not exist. */
  patch<T extends KubernetesObject>(
    type: ResourceType,
    name: ObjectName,
    patch: object,
    options?: WriteOptions,
  ): Promise<T | null>
  /** Deletes an object and its dependents. Succeeds if the object does not exist. */
  delete(type: ResourceType, name: ObjectName): Promise<void>
}

export interface ListOptions {
  readonly namespace?: string
  readonly labelSelector?: string
}

export interface WriteOptions {
  readonly subresource?: 'status'
}

export interface ApplyOptions extends WriteOptions {
  readonly force?: boolean
}

const READ_MS = 30_000
const WRITE_MS = 10_000
const PAGE = 500

export interface ClientOptions {
  readonly fieldManager: string
  readonly fence?: Fence
  /** Called with each object as returned by a write. */
  readonly onWritten?: (type: ResourceType, object: KubernetesObject) => void
}

type Scope = 'Cluster' | 'Namespaced'

interface Write extends ApplyOptions {
  readonly name: ObjectName
  readonly body: object
  readonly contentType?: string
}

const VERBS = { create: 'POST', replace: 'PUT', patch: 'PATCH' } as const

/** Creates a client whose writes use the field manager `fieldManager` and pass the fence. */
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
    const method = subresource ? (`patch${scoped}Status` as const) : (`${action}${scoped}` as const)
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
    delete: async (type, name) => {
      const request = { ...placeOf(type, name), propagationPolicy: 'Background' }
      const call = (options: ConfigurationOptions) => api[`delete${scopeOf(type, name)}CustomObject`](request, options)
      await nullWhenGone(send('DELETE', type, call))
    },
  }
}

export interface Page<T> {
  readonly metadata: { readonly continue?: string; readonly resourceVersion: string }
  readonly items: readonly T[]
}

/** Lists the objects of a type, at most `limit` per page. Throws a `KubernetesError`. */
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
    // Items of a list have no kind and version.
    yield { ...page, items: page.items.map((item) => typed(type, item)) }
    next = page.metadata.continue || undefined
  } while (next !== undefined)
}

/** This API passes objects of any type unchanged; the package's typed APIs would drop unknown fields. */
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
