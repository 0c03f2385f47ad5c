import { readFile } from 'node:fs/promises'
import { DrapeError } from '../../shared/contract/errors.ts'

/**
 * Bytes that wait while a write runs, and are then written at once. With Node's 16 KB, each chunk of a body waits for the write of the
 * chunk before, which takes a third more processor time.
 */
export const WRITE_BUFFER_BYTES = 512 * 1024

/** A file of a multipart body, on disk until the request ends. */
export interface UploadedFile {
  readonly field: string
  readonly path: string
  readonly bytes: number
  /** SHA-256 as a hex string, computed while receiving; null unless the request has an `Idempotency-Key`. */
  readonly hash: string | null
}

/** The bytes of a named multipart file. Throws `MULTIPART_FILE_NOT_FOUND`. */
export async function readUpload(fileKey: string, files: readonly UploadedFile[]): Promise<Uint8Array> {
  const file =
    files.find(({ field }) => field === fileKey) ?? files.find(({ field }) => unescapeName(field) === fileKey)
  if (!file) throw new DrapeError('MULTIPART_FILE_NOT_FOUND', `The request has no file field named ${fileKey}.`)
  return readFile(file.path)
}

/** `field`: the field of the request that contains the file. */
export function fileTooLarge(field: string): DrapeError {
  return new DrapeError('FILE_TOO_LARGE', 'A file is larger than 10 MB.', {
    details: [{ path: field, message: 'is larger than 10 MB' }],
  })
}

const ESCAPED: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' }

/**
 * Decodes a field name from a browser, which escapes characters that would end the name (HTML standard, multipart form
 * data).
 */
function unescapeName(field: string): string {
  return field.replace(/%(?:22|0D|0A)/g, (escaped) => ESCAPED[escaped] ?? escaped)
}
