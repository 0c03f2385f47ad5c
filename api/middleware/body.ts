import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Context, Middleware } from 'koa'
import { koaBody } from 'koa-body'
import { assertStorable, parseBoundedJson } from '../bodies/bounded-json.ts'
import { createDiskBudgets, type DiskBudget, type DiskShare } from '../bodies/disk-budget.ts'
import { findFileKey } from '../bodies/file-key-path.ts'
import { guardMultipart } from '../bodies/multipart-guard.ts'
import { createMultipartPlugin, type FormPart } from '../bodies/multipart-parser.ts'
import { createUploadFolders } from '../bodies/upload-folders.ts'
import { fileTooLarge, type UploadedFile } from '../bodies/uploaded-file.ts'
import { DrapeError } from '../shared/errors.ts'
import type { AppState } from '../state.ts'

/** Maximum size of a file, 10 MB (2^20 bytes each). */
export const MAX_FILE_BYTES = 10 * 1024 * 1024
/** The images of a product, a photo, and one more. */
const MAX_FILES = 52
/** Total size of the files of a multipart body. */
const MAX_FILES_BYTES = 12 * MAX_FILE_BYTES
/** Total size of a multipart body without its files: fields, headers and delimiters. */
const MAX_OTHER_BYTES = MAX_FILE_BYTES
const MAX_FIELDS = 20
/** Disk budget in megabytes of a parser without a shared budget. */
const OWN_DISK_MB = 512
const MB = 1024 * 1024

export interface BodyOptions {
  /** Maximum size of a JSON body, and of all fields of a form together. */
  readonly maxJsonBytes?: number
  /** Default: a separate budget. */
  readonly disk?: DiskBudget
  /** Owner of the bytes on disk. Default: the account of the request. */
  readonly ownerOf?: (ctx: { readonly state: AppState; readonly ip: string }) => string
  readonly maxFiles?: number
}

/**
 * Parses JSON and multipart bodies within limits: `ctx.state.body` (in multipart: the JSON in the field `data`),
 * `fields` and `files`. Files are in a temporary folder, which is deleted when the request ends in any way. Throws a
 * retryable `SERVICE_UNAVAILABLE` when the disk budget of the owner or of the process is spent.
 */
export function parseBody({
  maxJsonBytes = MB,
  disk = createDiskBudgets(OWN_DISK_MB).accounts,
  ownerOf = ({ state }) => state.account?.id ?? '',
  maxFiles = MAX_FILES,
}: BodyOptions = {}): Middleware<AppState> {
  const withFolder = createUploadFolders(join(tmpdir(), 'drape-uploads'))
  const parseText = createTextParser(maxJsonBytes)
  return async function body(ctx, next) {
    // From here on, nothing else would signal the end of the body to the parser.
    if (ctx.req.destroyed && !ctx.req.readableEnded) throw invalid('', 'could not be read')
    ctx.state.files = []
    ctx.state.fields = {}
    if (ctx.is('multipart') && ctx.method === 'POST') {
      const share = disk(ownerOf(ctx))
      return withFolder(async (folder) => {
        await reading(ctx, parseForm(ctx, { folder, share, maxFiles, maxJsonBytes }))
        await next()
      }).finally(share.release)
    }
    await reading(
      ctx,
      parseText(ctx, async () => {}),
    )
    ctx.state.body = parseJson(textOf(ctx.request), '')
    assertStorable(ctx.state.body, '')
    await next()
  }
}

/** Parses a JSON body of at most 1 MB. The handler checks whether it can be stored (`assertStorable`). */
export function parseJsonBody(): Middleware<AppState> {
  const parseText = createTextParser(MB)
  return async function jsonBody(ctx, next) {
    if (ctx.req.destroyed && !ctx.req.readableEnded) throw invalid('', 'could not be read')
    await reading(
      ctx,
      parseText(ctx, async () => {}),
    )
    ctx.state.body = parseJson(textOf(ctx.request), '')
    await next()
  }
}

/**
 * Reads and drops the rest of a rejected body, so that the response reaches the sender and the connection stays usable.
 */
async function reading({ req }: Context, parsing: Promise<void>): Promise<void> {
  try {
    await parsing
  } finally {
    req.unpipe()
    req.resume()
  }
}

function createTextParser(maxJsonBytes: number) {
  return koaBody({
    urlencoded: false,
    // As text: formidable's own JSON parser rejects bodies with a field named __proto__, which is a valid name.
    json: false,
    textTypes: ['json', '+json'],
    textLimit: maxJsonBytes,
    patchNode: false,
    onError: (error) => {
      throw refusalOf(error, { maxJsonBytes })
    },
  })
}

interface FormLimits {
  readonly folder: string
  readonly share: DiskShare
  readonly maxFiles: number
  readonly maxJsonBytes: number
}

async function parseForm(
  ctx: Context & { state: AppState },
  { folder, share, maxFiles, maxJsonBytes }: FormLimits,
): Promise<void> {
  const maxFilesBytes = Math.min(maxFiles * MAX_FILE_BYTES, MAX_FILES_BYTES)
  // A single file and its fields may have 11 MB, as on all routes that expect one file.
  const maxBytes = maxFilesBytes + (maxFiles <= 1 ? MB : MAX_OTHER_BYTES)
  const parts = watchParts(maxJsonBytes)
  const guarded = guardMultipart(ctx.req, { maxBytes, onBytes: share.add })
  const parse = koaBody({
    multipart: true,
    patchNode: false,
    formidable: {
      uploadDir: folder,
      maxFileSize: MAX_FILE_BYTES,
      maxTotalFileSize: maxFilesBytes,
      maxFiles,
      maxFields: MAX_FIELDS,
      maxFieldsSize: maxJsonBytes,
      allowEmptyFiles: true,
      hashAlgorithm: ctx.get('idempotency-key') === '' ? false : 'sha256',
      minFileSize: 0,
      // Names and types from callers are not trusted and never used on disk.
      filename: () => randomUUID(),
      enabledPlugins: [createMultipartPlugin(parts.isField)],
    },
    onError: (error) => {
      throw guarded.refusal ?? refusalOf(error, { maxFiles, maxJsonBytes, tooLarge: parts.findTooLarge() })
    },
  })
  try {
    await parse(Object.create(ctx, { req: { value: guarded } }), async () => {})
  } finally {
    guarded.release()
  }
  ctx.state.files = filesOf(ctx.request)
  ctx.state.fields = fieldsOf(ctx.request)
  ctx.state.body = parseJson(ctx.state.fields.data, 'data')
  assertStorable(ctx.state.body, '')
  assertStorable(ctx.state.fields, '')
}

/** Records the JSON of a form, and the first file over its limit. */
function watchParts(maxJsonBytes: number) {
  const json: Buffer[] = []
  let tooLarge: string | null = null
  return {
    isField: (part: FormPart & Partial<Readable>): boolean => {
      const { name } = part
      let bytes = 0
      part.on?.('data', (chunk: Buffer) => {
        bytes += chunk.length
        if (name === 'data' && bytes <= maxJsonBytes) json.push(chunk)
        if (bytes > MAX_FILE_BYTES) tooLarge ??= name
      })
      return isField(part)
    },
    /**
     * Path of the image whose `fileKey` is the file; the name of the part when no JSON preceded it. Null without such a
     * file.
     */
    findTooLarge: (): string | null =>
      tooLarge === null ? null : (findFileKey(Buffer.concat(json).toString(), tooLarge) ?? tooLarge),
  }
}

/** Many clients set the type of every part, fields included, and some send the JSON as a file. */
function isField(part: FormPart): boolean {
  if (part.name === 'data') return true
  return part.originalFilename === null && /^text\/|^application\/json\b|^$/i.test(part.mimetype ?? '')
}

function filesOf(request: unknown): UploadedFile[] {
  const files = (request as { files?: Record<string, FormFile | FormFile[]> }).files ?? {}
  return Object.entries(files).flatMap(([field, value]) =>
    [value]
      .flat()
      .filter(isChosen)
      .map(({ filepath, size, hash }) => ({ field, path: filepath, bytes: size, hash })),
  )
}

/** For a file field without a chosen file, browsers send an empty file without a name. */
function isChosen({ originalFilename, size }: FormFile): boolean {
  return originalFilename !== '' || size > 0
}

interface FormFile {
  filepath: string
  originalFilename: string | null
  size: number
  hash: string | null
}

function fieldsOf(request: unknown): Record<string, string> {
  const body = (request as { body?: Record<string, string | string[]> }).body ?? {}
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, [value].flat()[0] ?? '']))
}

function textOf(request: unknown): string | undefined {
  return (request as { body?: string }).body || undefined
}

function parseJson(text: string | undefined, path: string): unknown {
  return text === undefined ? undefined : parseBoundedJson(text, path)
}

function invalid(path: string, message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', 'The request is not valid.', { details: [{ path, message }] })
}

// formidable's error codes for the total size of files, and for a single file.
const TOO_LARGE = [1009, 1016]
/** formidable's error code for the total size of fields. */
const TOO_LARGE_FIELDS = 1006
/** formidable's error codes for too many fields or files. */
const tooMany = (maxFiles: number): Readonly<Record<string, string>> => ({
  1007: `has more than ${MAX_FIELDS} fields`,
  1015: `has more than ${maxFiles} ${maxFiles === 1 ? 'file' : 'files'}`,
})

const DISK_ERRORS = ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EMFILE', 'ENFILE']

function sizeOf(bytes: number): string {
  return bytes < MB ? `${bytes / 1024} kB` : `${bytes / MB} MB`
}

function refusalOf(
  error: Error & { code?: unknown; status?: unknown },
  {
    maxFiles = MAX_FILES,
    maxJsonBytes,
    tooLarge = null,
  }: { maxFiles?: number; maxJsonBytes: number; tooLarge?: string | null },
): Error {
  if (TOO_LARGE.includes(Number(error.code))) {
    if (tooLarge !== null) return fileTooLarge(tooLarge)
    const limit = `are larger than ${MAX_FILES_BYTES / MB} MB together`
    return new DrapeError('FILE_TOO_LARGE', `The files ${limit}.`, { details: [{ path: '', message: limit }] })
  }
  if (error.status === 413) return invalid('', `is larger than ${sizeOf(maxJsonBytes)}`)
  if (Number(error.code) === TOO_LARGE_FIELDS) return invalid('', `has fields of more than ${sizeOf(maxJsonBytes)}`)
  if (DISK_ERRORS.includes(String(error.code))) {
    return new DrapeError('SERVICE_UNAVAILABLE', 'Files cannot be received right now. Send the request again.', {
      retryable: true,
      cause: error,
    })
  }
  return invalid('', tooMany(maxFiles)[String(error.code)] ?? 'could not be read')
}
