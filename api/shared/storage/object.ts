import type { Readable } from 'node:stream'
import { DrapeError } from '../errors.ts'

/**
 * Where the bytes of pictures are kept. Every method throws a retryable DrapeError SERVICE_UNAVAILABLE when the storage cannot
 * be reached or is full, and INTERNAL_ERROR for a key that `demandKey` does not allow.
 */
export interface ObjectStorage {
  /** Stores or replaces an object; readers see the old bytes or all of the new ones. */
  put(key: string, content: Uint8Array | Readable, about: { readonly contentType: string }): Promise<void>
  /** The object's bytes, or null when there is none. */
  get(key: string): Promise<Buffer | null>
  /** The same as it comes, for whoever passes it on; MUST be read or destroyed. */
  open(key: string): Promise<OpenedObject | null>
  /** Deletes objects; those that are gone already count as deleted. */
  delete(keys: readonly string[]): Promise<void>
  exists(key: string): Promise<boolean>
  /** A link that anybody may open until it expires; with `filename` it is saved instead of shown. */
  signedUrl(key: string, options: SignedUrlOptions): Promise<string>
  /** The key of the object that a link points to, whoever made it and however old it is, or null for a foreign link. */
  keyOf(url: string): string | null
  /** Resolves when objects can be read and written. */
  check(): Promise<void>
  close(): void
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

/** Whether the text may be a key: folders and a name of letters, digits, `_` and `-`, and an extension that tells the content. */
export function isKey(text: string): boolean {
  return text.length <= MAX_KEY_LENGTH && KEY.test(text)
}

/** @throws DrapeError INTERNAL_ERROR when the key is not one that Drape makes. */
export function demandKey(key: string): void {
  if (!isKey(key)) throw new DrapeError('INTERNAL_ERROR', 'This is not the key of an object.')
}

/** The media type of an object, told by its key's extension: `.jpg`, `.png`, `.webp` or `.bin`. */
export function contentTypeOf(key: string): string {
  demandKey(key)
  return CONTENT_TYPES[key.slice(key.lastIndexOf('.') + 1)]
}

/** @throws DrapeError INTERNAL_ERROR when an object would be served as something other than what was put. */
export function demandContentType(key: string, contentType: string): void {
  const expected = contentTypeOf(key)
  if (contentType === expected) return
  throw new DrapeError('INTERNAL_ERROR', `An object of type ${contentType} needs a key that says so, not ${expected}.`)
}

/** An error of the storage below, as one that is worth another attempt. */
export function storageFault(cause: unknown): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', 'The object storage is not available.', { retryable: true, cause })
}
