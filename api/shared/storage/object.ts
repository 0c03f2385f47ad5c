import type { Readable } from 'node:stream'
import { DrapeError } from '../contract/errors.ts'

/**
 * Object storage of image bytes. Every method throws a retryable DrapeError SERVICE_UNAVAILABLE when the storage is
 * unavailable or full, and INTERNAL_ERROR for a key that `assertKey` rejects.
 */
export interface ObjectStorage {
  /** Creates or replaces an object atomically: readers get the old bytes or all of the new ones. */
  put(key: string, content: Uint8Array | Readable, about: { readonly contentType: string }): Promise<void>
  /** The object's bytes; null when the object does not exist. */
  get(key: string): Promise<Buffer | null>
  /** The object as a stream, which MUST be read or destroyed; null when the object does not exist. */
  open(key: string): Promise<OpenedObject | null>
  /**
   * Deletes objects. Missing objects count as deleted. Throws `DeletionRefused` when the storage refuses some, for example
   * under a retention lock: all others are deleted.
   */
  delete(keys: readonly string[]): Promise<void>
  exists(key: string): Promise<boolean>
  /**
   * Counts the objects of which the storage keeps versions, which no other method reads: after a deletion, a bucket with versioning
   * keeps the bytes. Null when the storage does not say.
   */
  countVersioned(keys: readonly string[]): Promise<number | null>
  /** A public link that expires; with `filename`, browsers save the object instead of showing it. */
  signedUrl(key: string, options: SignedUrlOptions): Promise<string>
  /** The key of the object that a link points to, expired or not; null for other links. */
  keyOf(url: string): string | null
  /** Whether `signedUrl` created this link with a key that is still configured, and the link has not expired. */
  isSignedUrl(url: string): Promise<boolean>
  /**
   * Every object, or those in a folder (`erasures/`), with keys after `after`, in the byte order of their keys, in pages. Skips
   * other files.
   */
  list(folder?: string, options?: { readonly after?: string }): AsyncIterable<readonly StoredObject[]>
  /** Deletes incomplete uploads that began before the date; only counts them in a dry run. Returns the count. */
  deleteIncomplete(options: { readonly before: Date; readonly dryRun: boolean }): Promise<number>
  /** Resolves when objects can be read and written. */
  check(): Promise<void>
  close(): void
}

export interface StoredObject {
  readonly key: string
  readonly bytes: number
  /** Upload time, by the storage's clock. */
  readonly modifiedAt: Date
}

export interface OpenedObject {
  readonly content: Readable
  readonly bytes: number
}

export interface SignedUrlOptions {
  readonly expiresInSeconds: number
  readonly filename?: string
}

/** For browsers, which may keep an object for 5 minutes, and not longer than the link was valid when it was made or answered. */
export function cacheControl(secondsLeft: number): string {
  return `private, max-age=${Math.max(0, Math.min(300, Math.floor(secondsLeft)))}`
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  bin: 'application/octet-stream',
}
const KEY = new RegExp(`^(?:[\\w-]{1,100}/){0,8}[\\w-]{1,100}\\.(?:${Object.keys(CONTENT_TYPES).join('|')})$`)
const MAX_KEY_LENGTH = 500

/**
 * Whether the text is a valid key: folders and a name of letters, digits, `_` and `-`, and an extension that names the
 * content type.
 */
export function isKey(text: string): boolean {
  return text.length <= MAX_KEY_LENGTH && KEY.test(text)
}

/** @throws DrapeError INTERNAL_ERROR when the key is invalid. */
export function assertKey(key: string): void {
  if (!isKey(key)) throw new DrapeError('INTERNAL_ERROR', 'The object key is not valid.')
}

/** The media type of an object, by its key's extension: `.jpg`, `.png`, `.webp` or `.bin`. */
export function contentTypeOf(key: string): string {
  assertKey(key)
  return CONTENT_TYPES[key.slice(key.lastIndexOf('.') + 1)]
}

/** @throws DrapeError INTERNAL_ERROR when the key's extension does not match the content type. */
export function assertContentType(key: string, contentType: string): void {
  const expected = contentTypeOf(key)
  if (contentType === expected) return
  throw new DrapeError(
    'INTERNAL_ERROR',
    `The key of an object of type ${contentType} needs its extension, not ${expected}.`,
  )
}

/** The storage refuses to delete some objects; the others are deleted. */
export class DeletionRefused extends DrapeError {
  readonly keys: ReadonlySet<string>

  constructor(keys: Iterable<string>, cause: unknown) {
    super('SERVICE_UNAVAILABLE', 'The object storage refuses to delete objects.', { retryable: true, cause })
    this.keys = new Set(keys)
  }
}

/** Deletes the bytes of objects. Returns the keys that the storage refuses to delete; throws its other errors. */
export async function deleteUnlessRefused(
  keys: readonly string[],
  deleteBytes: (keys: readonly string[]) => Promise<void>,
): Promise<ReadonlySet<string>> {
  try {
    await deleteBytes(keys)
    return new Set()
  } catch (error) {
    if (error instanceof DeletionRefused) return error.keys
    throw error
  }
}

/** Converts an error of the storage into a retryable error. */
export function storageError(cause: unknown): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', 'The object storage is unavailable.', { retryable: true, cause })
}

/** Awaits work of the storage, and throws its errors as `storageError`. */
export async function withStorageErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw storageError(cause)
  }
}
