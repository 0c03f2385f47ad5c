import { stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { type ImageInput, readPicture } from '../../../api/client/node.ts'
import { DrapeError } from '../../../api/shared/contract/errors.ts'
import { inField } from '../../../api/shared/image/image-field.ts'
import { readImageHeader } from '../../../api/shared/image/image-format.ts'

/** Exactly one of the fields is set. */
export interface ImageSource {
  readonly path?: string
  readonly url?: string
  readonly base64?: string
}

/**
 * Reads the image that the caller of a tool names. Rejects bytes that are not an image: a manipulated assistant cannot exfiltrate
 * other files of this machine.
 * @throws DrapeError `VALIDATION_FAILED` if the source cannot be read, `INVALID_IMAGE` or `UNSUPPORTED_IMAGE_TYPE` if it is not an
 * image
 */
export async function readSource(
  { path, url = '', base64 }: ImageSource,
  { field, find }: { field: string; find: (path: string) => Promise<string> },
): Promise<ImageInput> {
  if (path !== undefined) {
    const file = await readFileAt(await find(path.replace(/^~(?=\/)/, homedir())), field)
    return inField(`${field}.path`, checked(file))
  }
  return base64 === undefined ? { url } : inField(`${field}.base64`, checked(new Blob([decode(base64, field)])))
}

async function readFileAt(path: string, field: string): Promise<Blob> {
  try {
    // A pipe or a terminal would never end.
    const stats = await stat(path)
    if (!stats.isFile() && !stats.isDirectory()) throw invalid(`${field}.path`, `is not a regular file: ${path}`)
    return await readPicture(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!READ_FAILURES.includes(code ?? '')) throw error
    throw invalid(`${field}.path`, `cannot be read: ${path} (${code})`)
  }
}

const READ_FAILURES = [
  'ENOENT',
  'EACCES',
  'EPERM',
  'EISDIR',
  'ENOTDIR',
  'ENAMETOOLONG',
  'ELOOP',
  'ERR_INVALID_ARG_VALUE',
]

const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}\s*$/

function decode(text: string, field: string): Uint8Array<ArrayBuffer> {
  const data = text.replace(/^data:[^,]*;base64,/, '')
  if (!BASE64.test(data)) throw invalid(`${field}.base64`, 'must be base64')
  return new Uint8Array(Buffer.from(data, 'base64'))
}

async function checked(blob: Blob): Promise<Blob> {
  readImageHeader(new Uint8Array(await blob.arrayBuffer()))
  return blob
}

function invalid(path: string, message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', `${path} ${message}`, { details: [{ path, message }] })
}
