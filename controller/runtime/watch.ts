import { setTimeout as sleep } from 'node:timers/promises'
import { Watch } from '@kubernetes/client-node'
import { listPages } from './client.ts'
import type { Connection } from './connection.ts'
import { KubernetesError, kubernetesErrorOf } from './kubernetes-error.ts'
import { type KubernetesObject, keyOf, pathOf, type ResourceType } from './resource.ts'

/** A cache of all objects of a type, kept up to date by a watch. */
export interface Watched<T> {
  readonly type: ResourceType
  get(key: string): T | undefined
  list(): T[]
  /**
   * Applies the response of a write, so that the writer reads its own write even if the watch lags. Ignores versions that
   * the watch has already seen, or has seen deleted since.
   */
  note(object: KubernetesObject): void
  /** Resolves when the objects have been listed once. */
  readonly synced: Promise<void>
  close(): void
}

export interface WatchOptions<T> {
  readonly connection: Connection
  readonly type: ResourceType
  readonly namespace?: string
  readonly labelSelector?: string
  /** Reduces each object to the required fields, to save memory; default: keeps everything. `managedFields` are always dropped. */
  readonly keep?: (object: T) => T
  /** Called when an object is added, changed or deleted; `object` is its last version. */
  readonly onChange?: (object: T) => void
  /** Called when the connection is lost or refused. Reconnects automatically. */
  readonly onFault?: (error: KubernetesError) => void
  /** Seconds after which the server ends a watch, with a bookmark of its position. */
  readonly watchSeconds?: number
  /** Seconds without data after the end of a watch after which the connection counts as dead. */
  readonly silenceSeconds?: number
}

const WATCH_SECONDS = 30
const SILENCE_SECONDS = 10
const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 2000
/** The type is unknown or forbidden, or the server is overloaded. */
const REFUSED: readonly number[] = [403, 404, 429]
const REFUSED_PAUSE_MS = 15_000
// Memory of a page is not freed soon after it is read.
const PAGE = 100

type WatchedObject = KubernetesObject & { readonly code?: number; readonly message?: string }
type Change = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'

/**
 * Lists the objects and watches them from there on, until closed. Resumes a watch that ends, breaks or stalls at its last
 * position; if the server no longer has that position (410), lists all objects again. No change is lost, but several changes of
 * an object can be merged.
 */
export function watchObjects<T extends KubernetesObject>(options: WatchOptions<T>): Watched<T> {
  const { onFault = () => {}, keep = (object) => object } = options
  const { watchSeconds = WATCH_SECONDS, silenceSeconds = SILENCE_SECONDS } = options
  const { connection, type, namespace, labelSelector } = options
  const selection = { namespace, labelSelector, limit: PAGE }
  // The package ends a watch, or the opening of one, after this time without data.
  const watcher = new Watch(connection.config)
  Reflect.set(watcher, 'requestTimeoutMs', (watchSeconds + silenceSeconds) * 1000)
  const keepSmall = (object: unknown) => withoutManagedFields(keep(object as T))
  const kept = createObjectCache<T>(options.onChange)
  const closing = new AbortController()
  const synced = Promise.withResolvers<void>()
  let version: string | null = null

  async function keepWatching(): Promise<void> {
    let failures = 0
    while (!closing.signal.aborted) {
      try {
        version ??= await relist()
        await followOnce(version)
        failures = 0
      } catch (cause) {
        if (closing.signal.aborted) return
        const error = kubernetesErrorOf(cause)
        if (error.status === 410) version = null
        else onFault(error)
        await sleep(pauseAfter(error, failures++), undefined, { signal: closing.signal }).catch(() => {})
      }
    }
  }

  async function relist(): Promise<string> {
    const listed = new Map<string, T>()
    let resourceVersion = ''
    // Only one page at a time is in memory.
    for await (const { items, metadata } of listPages<T>(connection, type, { ...selection, signal: closing.signal })) {
      for (const item of items) listed.set(keyOf(item.metadata), keepSmall(item))
      resourceVersion = metadata.resourceVersion
    }
    for (const [key, object] of [...kept.objects]) if (!listed.has(key)) kept.remove(key, object, resourceVersion)
    for (const [key, object] of listed) kept.put(key, object)
    synced.resolve()
    return resourceVersion
  }

  async function followOnce(from: string): Promise<void> {
    const ended = Promise.withResolvers<void>()
    let isOver = false
    const end = (error: unknown) => {
      isOver = true
      if (error) ended.reject(error)
      else ended.resolve()
    }
    const query = { labelSelector, allowWatchBookmarks: true, resourceVersion: from, timeoutSeconds: watchSeconds }
    const onEvent = (change: string, object: WatchedObject) => {
      try {
        if (!isOver) take(change as Change, object)
      } catch (error) {
        // The package would swallow the exception.
        end(error)
      }
    }
    const request = await watcher.watch(pathOf(type, { namespace }), query, onEvent, end)
    const abort = () => request.abort()
    closing.signal.addEventListener('abort', abort)
    if (closing.signal.aborted) abort()
    try {
      await ended.promise
    } finally {
      closing.signal.removeEventListener('abort', abort)
      abort()
    }
  }

  function take(change: Change, object: WatchedObject): void {
    if (change === 'ERROR') throw new KubernetesError(object.code ?? 500, object.message ?? 'The watch failed')
    const { resourceVersion = '' } = object.metadata
    if (change === 'DELETED') kept.remove(keyOf(object.metadata), object as unknown as T, resourceVersion)
    else if (change !== 'BOOKMARK') kept.put(keyOf(object.metadata), keepSmall(object))
    version = object.metadata.resourceVersion ?? version
  }

  keepWatching()
  return {
    type,
    get: (key) => kept.objects.get(key),
    list: () => [...kept.objects.values()],
    note: (object) => {
      if (version === null || isNewer(object.metadata.resourceVersion, version))
        kept.put(keyOf(object.metadata), keepSmall(object))
    },
    synced: synced.promise,
    close: () => closing.abort(),
  }
}

/** The latest known state of each object. An older state never replaces a newer one. */
function createObjectCache<T extends KubernetesObject>(onChange: (object: T) => void = () => {}) {
  const objects = new Map<string, T>()
  return {
    objects,
    put: (key: string, now: T): void => {
      const before = objects.get(key)
      const version = now.metadata.resourceVersion
      if (before && isNewer(before.metadata.resourceVersion, version)) return
      // The object of a version stays the same, also in a relist and after a noted write, so that it is parsed once.
      if (before && version !== undefined && before.metadata.resourceVersion === version) return
      objects.set(key, now)
      onChange(now)
    },
    remove: (key: string, object: T, at: string): void => {
      // Another object with this name was noted since.
      if (isNewer(objects.get(key)?.metadata.resourceVersion, at)) return
      if (objects.delete(key)) onChange(object)
    },
  }
}

// Resource versions of one type are increasing numbers (KEP-5504), without leading zeros.
function isNewer(a = '', b = ''): boolean {
  return a.length === b.length ? a > b : a.length > b.length
}

// `managedFields` is often larger than the rest of the object.
function withoutManagedFields<T extends KubernetesObject>(object: T): T {
  return { ...object, metadata: { ...object.metadata, managedFields: undefined } }
}

function pauseAfter({ status, retryAfterSeconds }: KubernetesError, failures: number): number {
  const longest = REFUSED.includes(status) ? REFUSED_PAUSE_MS : MAX_PAUSE_MS
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 20), longest)
  // The package does not expose the Retry-After of a rejected watch.
  const asked = retryAfterSeconds ?? (status === 429 ? 1 : 0)
  return Math.max(asked * 1000, pause * (0.5 + Math.random() / 2))
}
