import type { IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, KubernetesError } from './connection.ts'
import { apiVersionOf, type KubernetesObject, keyOf, pathOf, type ResourceType } from './resource.ts'

/** All objects of a type as they were a moment ago, kept up to date. */
export interface Watched<T> {
  readonly type: ResourceType
  get(key: string): T | undefined
  list(): T[]
  /**
   * Takes in what a write was answered with, so that the writer reads it at once, however far behind the watch is. What the
   * watch has seen already, or has seen go since, is left as it is.
   */
  note(object: KubernetesObject): void
  /** Resolves when the objects have been listed once. */
  readonly synced: Promise<void>
  /** Milliseconds since the API server was last heard of; the objects may be as old. */
  ageMs(): number
  close(): void
}

export interface WatchOptions<T> {
  readonly connection: Connection
  readonly type: ResourceType
  readonly namespace?: string
  readonly labelSelector?: string
  /** What is kept of each object, to save memory; everything by default. Its `managedFields` are never kept. */
  readonly keep?: (object: T) => T
  /** An object appeared, changed or went; `object` is what it was last. */
  readonly onChange?: (object: T) => void
  /** The connection was lost or refused; it is tried again by itself. */
  readonly onFault?: (error: unknown) => void
  /** After so long the server ends a watch, and says before how far it had come. */
  readonly watchSeconds?: number
  /** Nothing for so long after a watch should have ended: the way to the server is dead. */
  readonly silenceSeconds?: number
}

const WATCH_SECONDS = 30
const SILENCE_SECONDS = 10
const OPEN_MS = 5000
const FIRST_PAUSE_MS = 50
const MAX_PAUSE_MS = 2000
/** While the type is unknown or forbidden here. */
const REFUSED_PAUSE_MS = 15_000
// What a page takes while it is read is not given back soon.
const PAGE = 100

interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR'
  readonly object: KubernetesObject & { readonly code?: number; readonly message?: string }
}

/**
 * Lists the objects and watches them from there on, until closed. A watch that ends, breaks or goes silent is taken up where it
 * had come to; when the server has forgotten that place (410), everything is listed anew. No change between is lost, though
 * several of one object may come as one.
 */
export function watchObjects<T extends KubernetesObject>(options: WatchOptions<T>): Watched<T> {
  const { onChange = () => {}, onFault = () => {}, keep = (object) => object } = options
  const { watchSeconds = WATCH_SECONDS, silenceSeconds = SILENCE_SECONDS } = options
  const keepSmall = (object: unknown) => withoutManagedFields(keep(object as T))
  const objects = new Map<string, T>()
  const closing = new AbortController()
  const synced = Promise.withResolvers<void>()
  let heardAt = performance.now()
  let version: string | null = null

  async function keepWatching(): Promise<void> {
    let failures = 0
    while (!closing.signal.aborted) {
      try {
        version ??= await relist()
        await followOnce(version)
        failures = 0
      } catch (error) {
        if (closing.signal.aborted) return
        if (error instanceof KubernetesError && error.status === 410) version = null
        else onFault(error)
        await sleep(pauseAfter(error, failures++), undefined, { signal: closing.signal }).catch(() => {})
      }
    }
  }

  async function relist(): Promise<string> {
    const { items, resourceVersion } = await listAll({ ...options, keep: keepSmall }, closing.signal)
    heardAt = performance.now()
    const listed = new Map(items.map((item) => [keyOf(item.metadata), item]))
    for (const [key, object] of [...objects]) if (!listed.has(key)) remove(key, object, resourceVersion)
    for (const [key, object] of listed) put(key, object)
    synced.resolve()
    return resourceVersion
  }

  async function followOnce(from: string): Promise<void> {
    const watch = new AbortController()
    const abort = () => watch.abort()
    closing.signal.addEventListener('abort', abort)
    let silence = setTimeout(abort, OPEN_MS)
    const heard = () => {
      heardAt = performance.now()
      clearTimeout(silence)
      silence = setTimeout(abort, (watchSeconds + silenceSeconds) * 1000)
    }
    try {
      const response = await openWatch({ ...options, watchSeconds }, from, watch.signal)
      heard()
      for await (const event of eventsOf(response)) {
        heard()
        take(event)
      }
    } finally {
      clearTimeout(silence)
      closing.signal.removeEventListener('abort', abort)
      watch.abort()
    }
  }

  function take({ type: change, object }: WatchEvent): void {
    if (change === 'ERROR') throw new KubernetesError(object.code ?? 500, object.message ?? 'The watch failed')
    const { resourceVersion = '' } = object.metadata
    if (change === 'DELETED') remove(keyOf(object.metadata), object as unknown as T, resourceVersion)
    else if (change !== 'BOOKMARK') put(keyOf(object.metadata), keepSmall(object))
    version = object.metadata.resourceVersion ?? version
  }

  function put(key: string, now: T): void {
    const before = objects.get(key)
    if (before && isNewer(before.metadata.resourceVersion, now.metadata.resourceVersion)) return
    objects.set(key, now)
    if (before?.metadata.resourceVersion !== now.metadata.resourceVersion) onChange(now)
  }

  function remove(key: string, object: T, at: string): void {
    // Another of this name that was noted since.
    if (isNewer(objects.get(key)?.metadata.resourceVersion, at)) return
    if (objects.delete(key)) onChange(object)
  }

  keepWatching()
  return {
    type: options.type,
    get: (key) => objects.get(key),
    list: () => [...objects.values()],
    note: (object) => {
      if (version === null || isNewer(object.metadata.resourceVersion, version))
        put(keyOf(object.metadata), keepSmall(object))
    },
    synced: synced.promise,
    ageMs: () => performance.now() - heardAt,
    close: () => closing.abort(),
  }
}

async function listAll<T extends KubernetesObject>(
  { connection, type, namespace, labelSelector, keep }: WatchOptions<T> & { readonly keep: (object: unknown) => T },
  closing: AbortSignal,
): Promise<{ items: T[]; resourceVersion: string }> {
  const items: T[] = []
  let next: string | undefined
  for (;;) {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(OPEN_MS * 6)])
    const query = { labelSelector, limit: PAGE, continue: next }
    const answer = await connection.open({ method: 'GET', path: pathOf(type, { namespace }), query, signal })
    const page = (await json(answer)) as { metadata: { continue?: string; resourceVersion: string }; items: T[] }
    // What comes in a list does not say what it is. Only a page at a time is there as a whole.
    for (const item of page.items) items.push(keep({ apiVersion: apiVersionOf(type), kind: type.kind, ...item }))
    next = page.metadata.continue
    if (!next) return { items, resourceVersion: page.metadata.resourceVersion }
  }
}

function openWatch<T>(
  { connection, type, namespace, labelSelector, watchSeconds }: WatchOptions<T>,
  from: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const query = {
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion: from,
    timeoutSeconds: watchSeconds,
    labelSelector,
  }
  return connection.open({ method: 'GET', path: pathOf(type, { namespace }), query, signal })
}

async function* eventsOf(response: IncomingMessage): AsyncGenerator<WatchEvent> {
  let rest = ''
  for await (const piece of response.setEncoding('utf8')) {
    const lines = (rest + piece).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) yield JSON.parse(line)
  }
}

// Versions of one type count up (KEP-5504), without leading zeros.
function isNewer(a = '', b = ''): boolean {
  return a.length === b.length ? a > b : a.length > b.length
}

// The server's own record of who wrote what is often larger than the object.
function withoutManagedFields<T extends KubernetesObject>(object: T): T {
  return { ...object, metadata: { ...object.metadata, managedFields: undefined } }
}

function pauseAfter(error: unknown, failures: number): number {
  const { status = 0, retryAfterSeconds = null } = error instanceof KubernetesError ? error : {}
  const asked = (retryAfterSeconds ?? 0) * 1000
  const longest = status === 403 || status === 404 ? REFUSED_PAUSE_MS : MAX_PAUSE_MS
  const pause = Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures, 20), longest)
  return Math.max(asked, pause * (0.5 + Math.random() / 2))
}
