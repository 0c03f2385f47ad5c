import type { Readable } from 'node:stream'
import { DrapeError } from '../errors.ts'

/**
 * Where the bytes of pictures are kept. Every method throws a retryable DrapeError SERVICE_UNAVAILABLE when the storage cannot
 * be reached or is full, and INTERNAL_ERROR for a key that `assertKey` does not allow.
 */
export interface ObjectStorage {
  /** Stores or replaces an object; readers see the old bytes or all of the new ones. */
  put(key: string, content: Uint8Array | Readable, about: { readonly contentType: string }): Promise<void>
  /** The object's bytes, or null when there is none. */
  get(key: string): Promise<Buffer | null>
  /** The same as a stream; MUST be read or destroyed. */
  open(key: string): Promise<OpenedObject | null>
  /** Deletes objects; those that are gone already count as deleted. */
  delete(keys: readonly string[]): Promise<void>
  exists(key: string): Promise<boolean>
  /** A public link that expires; with `filename` it is saved instead of shown. */
  signedUrl(key: string, options: SignedUrlOptions): Promise<string>
  /** The key of the object that a link points to, expired or not, or null for a foreign link. */
  keyOf(url: string): string | null
  /** Whether `signedUrl` made this link for one of the objects, with a key that is still in use, and the link has not expired. */
  isSignedUrl(url: string): Promise<boolean>
  /** Every object, or those in a folder (`erasures/`), in the byte order of their keys, in pages. Other files are left out. */
  list(folder?: string): AsyncIterable<readonly StoredObject[]>
  /** Deletes what is left of puts that began before the date and were never completed; only counts it in a dry run. Returns how many. */
  deleteIncomplete(options: { readonly before: Date; readonly dryRun: boolean }): Promise<number>
  /** Resolves when objects can be read and written. */
  check(): Promise<void>
  close(): void
}

export interface StoredObject {
  readonly key: string
  readonly bytes: number
  /** When the bytes were put, by the storage's clock. */
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

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  bin: 'application/octet-stream',
}
const KEY = new RegExp(`^(?:[\\w-]{1,100}/){0,8}[\\w-]{1,100}\\.(?:${Object.keys(CONTENT_TYPES).join('|')})$`)
const MAX_KEY_LENGTH = 500

/** Whether the text may be a key: folders and a name of letters, digits, `_` and `-`, and an extension that names the content. */
export function isKey(text: string): boolean {
  return text.length <= MAX_KEY_LENGTH && KEY.test(text)
}

/** @throws DrapeError INTERNAL_ERROR when the key is not one that Drape makes. */
export function assertKey(key: string): void {
  if (!isKey(key)) throw new DrapeError('INTERNAL_ERROR', 'The object key is not valid.')
}

/** The media type of an object, by its key's extension: `.jpg`, `.png`, `.webp` or `.bin`. */
export function contentTypeOf(key: string): string {
  assertKey(key)
  return CONTENT_TYPES[key.slice(key.lastIndexOf('.') + 1)]
}

/** @throws DrapeError INTERNAL_ERROR when an object would be served as something other than what was put. */
export function assertContentType(key: string, contentType: string): void {
  const expected = contentTypeOf(key)
  if (contentType === expected) return
  throw new DrapeError(
    'INTERNAL_ERROR',
    `The key of an object of type ${contentType} needs its extension, not ${expected}.`,
  )
}

/** An error of the storage below, as one that is worth another attempt. */
export function storageFault(cause: unknown): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', 'The object storage is not available.', { retryable: true, cause })
}
