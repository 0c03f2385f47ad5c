import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Context, Middleware } from 'koa'
import { koaBody } from 'koa-body'
import { guardMultipart } from '../multipart-guard.ts'
import { DrapeError } from '../shared/errors.ts'
import type { AppState } from '../state.ts'
import { createUploadFolders } from '../upload-folders.ts'
import type { UploadedFile } from '../uploaded-file.ts'

/** 10 MB as the interface counts them, per file. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024
const MAX_FILES = 12
/** Of a multipart body as a whole. */
const MAX_BODY_BYTES = (MAX_FILES + 1) * MAX_FILE_BYTES
const MAX_FIELDS = 20
const MAX_JSON_BYTES = 1024 * 1024
const MAX_DEPTH = 64

/**
 * Parses JSON and multipart bodies within limits: `ctx.state.body` (of multipart the JSON in the field `data`), `fields` and
 * `files`. Files lie in a temporary folder of their own and are removed when the request has ended, however it ended.
 */
export function parseBody(root = join(tmpdir(), 'drape-uploads')): Middleware<AppState> {
  const withFolder = createUploadFolders(root)
  return async function body(ctx, next) {
    // Nobody would tell a parser any more that nothing comes.
    if (ctx.req.destroyed && !ctx.req.readableEnded) throw invalid('', 'could not be read')
    ctx.state.files = []
    ctx.state.fields = {}
    if (ctx.is('multipart') && ctx.method === 'POST') {
      return withFolder(async (folder) => {
        await reading(ctx, parseForm(ctx, folder))
        await next()
      })
    }
    await reading(
      ctx,
      parseText(ctx as never, async () => {}),
    )
    ctx.state.body = parseJson(textOf(ctx.request), '')
    refuseUnstorable(ctx.state.body, '', 0)
    await next()
  }
}

/** Parses a JSON body alone. Whether all of it can be stored is left to the handler (`refuseUnstorable`). */
export function parseJsonBody(): Middleware<AppState> {
  return async function jsonBody(ctx, next) {
    if (ctx.req.destroyed && !ctx.req.readableEnded) throw invalid('', 'could not be read')
    await reading(
      ctx,
      parseText(ctx as never, async () => {}),
    )
    ctx.state.body = parseJson(textOf(ctx.request), '')
    await next()
  }
}

/** What a refusal left unread is read and dropped, so that the answer reaches the sender and the connection can go on. */
async function reading({ req }: Context, parsing: Promise<void>): Promise<void> {
  try {
    await parsing
  } finally {
    req.unpipe()
    req.resume()
  }
}

const parseText = koaBody({
  urlencoded: false,
  // As text: its own JSON reader refuses bodies with a field named __proto__, which is as good a name as any other.
  json: false,
  textTypes: ['json', '+json'],
  textLimit: MAX_JSON_BYTES,
  patchNode: false,
  onError: (error) => {
    throw refusalOf(error)
  },
})

async function parseForm(ctx: Context & { state: AppState }, folder: string): Promise<void> {
  const guarded = guardMultipart(ctx.req, { maxBytes: MAX_BODY_BYTES })
  const parse = koaBody({
    multipart: true,
    patchNode: false,
    formidable: {
      uploadDir: folder,
      maxFileSize: MAX_FILE_BYTES,
      maxTotalFileSize: MAX_FILES * MAX_FILE_BYTES,
      maxFiles: MAX_FILES,
      maxFields: MAX_FIELDS,
      maxFieldsSize: MAX_JSON_BYTES,
      allowEmptyFiles: true,
      hashAlgorithm: ctx.get('idempotency-key') === '' ? false : 'sha256',
      minFileSize: 0,
      // Names and types that callers send decide nothing, so none of them reaches the disk.
      filename: () => randomUUID(),
      // A part with a type is a file to the parser, one without it a field.
      onPart: (part, handle) => {
        part.mimetype = isField(part) ? null : (part.mimetype ?? 'application/octet-stream')
        handle(part)
      },
    },
    onError: (error) => {
      throw refusalOf(error)
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
  refuseUnstorable(ctx.state.body, '', 0)
  refuseUnstorable(ctx.state.fields, '', 0)
}

/** Many clients give the type of every part, fields included, and some send the JSON as a file. */
function isField(part: { name: string | null; originalFilename: string | null; mimetype: string | null }): boolean {
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

/** A browser sends a file without a name and without a byte for a field in which no file was chosen. */
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
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw invalid(path, 'is not valid JSON')
  }
}

/**
 * jsonb holds neither U+0000 nor half a surrogate pair, a number such as 1e999 would come back as null, and nothing here needs
 * a body that is nested without end. Throws `VALIDATION_FAILED`.
 */
export function refuseUnstorable(value: unknown, path: string, depth: number): void {
  if (depth > MAX_DEPTH) throw invalid(path, `is nested more than ${MAX_DEPTH} levels deep`)
  if (typeof value === 'string') {
    if (value.includes('\0') || !value.isWellFormed()) throw invalid(path, 'contains a character that cannot be stored')
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw invalid(path, 'is a number too large to be stored')
  } else if (Array.isArray(value)) {
    for (const [i, entry] of value.entries()) refuseUnstorable(entry, `${path}[${i}]`, depth + 1)
  } else if (value !== null && typeof value === 'object') {
    for (const [name, entry] of Object.entries(value)) {
      refuseUnstorable(name, path, depth + 1)
      refuseUnstorable(entry, path === '' ? name : `${path}.${name}`, depth + 1)
    }
  }
}

function invalid(path: string, message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', 'The request is not valid.', { details: [{ path, message }] })
}

// formidable's codes for a file, or all files together, over their limit.
const TOO_LARGE = [1009, 1016]
/** Its codes for what there is too much of. */
const TOO_MANY: Readonly<Record<string, string>> = {
  1006: 'has fields of more than 1 MB',
  1007: `has more than ${MAX_FIELDS} fields`,
  1015: `has more than ${MAX_FILES} files`,
}

const FAULTS_OF_DISK = ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EMFILE', 'ENFILE']

function refusalOf(error: Error & { code?: unknown; status?: unknown }): Error {
  if (TOO_LARGE.includes(Number(error.code))) {
    return new DrapeError('FILE_TOO_LARGE', 'A file is larger than 10 MB.')
  }
  if (error.status === 413) return invalid('', 'is larger than 1 MB')
  if (FAULTS_OF_DISK.includes(String(error.code))) {
    return new DrapeError('SERVICE_UNAVAILABLE', 'Files cannot be taken for a moment.', {
      retryable: true,
      cause: error,
    })
  }
  return invalid('', TOO_MANY[String(error.code)] ?? 'could not be read')
}
