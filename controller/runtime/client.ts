import { json } from 'node:stream/consumers'
import { withPartSpan } from '../../api/shared/telemetry.ts'
import { type Call, type Connection, KubernetesError } from './connection.ts'
import { apiVersionOf, type KubernetesObject, type ObjectName, pathOf, type ResourceType } from './resource.ts'

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
    patch: unknown,
    options?: { subresource?: string },
  ): Promise<T | null>
  /** Deletes an object together with what it owns, unless that is to stay (`orphan`); one that is gone already is fine. */
  delete(type: ResourceType, name: ObjectName, options?: { orphan?: boolean }): Promise<void>
}

export interface ListOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
}

export interface ApplyOptions {
  readonly subresource?: string
  readonly force?: boolean
}

/** Stands before every write and throws when this process must not write. Returns how long a write may take (ms). */
export type Fence = () => number

const READ_MS = 30_000
const WRITE_MS = 10_000
const PAGE = 500

export interface ClientOptions {
  readonly fieldManager: string
  readonly fence?: Fence
  /** Is called with each object as a write left it. */
  readonly onWritten?: (type: ResourceType, object: KubernetesObject) => void
}

/** A client whose writes carry the name `fieldManager` and pass the fence. */
export function createClient(
  connection: Connection,
  { fieldManager, fence = () => WRITE_MS, onWritten = () => {} }: ClientOptions,
): Client {
  const read = async <T>(call: Omit<Call, 'signal'>) =>
    (await json(await connection.open({ ...call, signal: AbortSignal.timeout(READ_MS) }))) as T
  const send = <T>({ plural }: ResourceType, call: Omit<Call, 'signal'>) =>
    withPartSpan(`${call.method} ${plural}`, { kind: 'client' }, async () => {
      const signal = AbortSignal.timeout(Math.max(1, Math.floor(Math.min(fence(), WRITE_MS))))
      return (await json(await connection.open({ ...call, signal, beforeSent: fence }))) as T
    })
  const write = async <T extends KubernetesObject>(type: ResourceType, call: Omit<Call, 'signal'>) => {
    const written = await send<T>(type, call)
    onWritten(type, written)
    return written
  }

  return {
    get: <T>(type: ResourceType, name: ObjectName) =>
      nullWhenGone(() => read<T>({ method: 'GET', path: pathOf(type, name) })),
    list: async <T extends KubernetesObject>(type: ResourceType, { namespace, ...selectors }: ListOptions = {}) => {
      const items: T[] = []
      let next: string | undefined
      do {
        const query = { ...selectors, limit: PAGE, continue: next }
        const page = await read<ListAnswer<T>>({ method: 'GET', path: pathOf(type, { namespace }), query })
        items.push(...page.items.map((item) => typed(type, item)))
        next = page.metadata.continue || undefined
      } while (next !== undefined)
      return items
    },
    apply: (type, object, { subresource, force = true } = {}) =>
      write(type, {
        method: 'PATCH',
        path: pathOf(type, { ...object.metadata, subresource }),
        query: { fieldManager, force },
        contentType: 'application/apply-patch+yaml',
        body: typed(type, object),
      }),
    create: (type, object) =>
      write(type, {
        method: 'POST',
        path: pathOf(type, { namespace: object.metadata.namespace }),
        query: { fieldManager },
        body: typed(type, object),
      }),
    replace: (type, object) =>
      write(type, {
        method: 'PUT',
        path: pathOf(type, object.metadata),
        query: { fieldManager },
        body: typed(type, object),
      }),
    patch: <T extends KubernetesObject>(
      type: ResourceType,
      name: ObjectName,
      patch: unknown,
      { subresource }: { subresource?: string } = {},
    ) =>
      nullWhenGone(() =>
        write<T>(type, {
          method: 'PATCH',
          path: pathOf(type, { ...name, subresource }),
          query: { fieldManager },
          contentType: 'application/merge-patch+json',
          body: patch,
        }),
      ),
    delete: async (type, name, { orphan = false } = {}) => {
      const body = { propagationPolicy: orphan ? 'Orphan' : 'Background' }
      await nullWhenGone(() => send(type, { method: 'DELETE', path: pathOf(type, name), body }))
    },
  }
}

interface ListAnswer<T> {
  readonly metadata: { readonly continue?: string; readonly resourceVersion: string }
  readonly items: readonly T[]
}

// The items of a list do not say what they are.
function typed<T extends object>(type: ResourceType, object: T): T {
  return { apiVersion: apiVersionOf(type), kind: type.kind, ...object }
}

async function nullWhenGone<T>(call: () => Promise<T>): Promise<T | null> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof KubernetesError && error.status === 404) return null
    throw error
  }
}
