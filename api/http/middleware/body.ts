import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Middleware } from 'koa'
import { assertStorable, parseBoundedJson } from '../bodies/bounded-json.ts'
import { createDiskBudgets, type DiskBudget } from '../bodies/disk-budget.ts'
import { readMultipart } from '../bodies/multipart.ts'
import { createTextReader } from '../bodies/text-body.ts'
import { createUploadFolders } from '../bodies/upload-folders.ts'
import type { AppState } from '../state.ts'

/** Maximum size of a file, 10 MB (2^20 bytes each). */
export const MAX_FILE_BYTES = 10 * 1024 * 1024
/** The images of a product, a photo, and one more. */
const MAX_FILES = 52
/** Total size of the files of a multipart body. */
const MAX_FILES_BYTES = 12 * MAX_FILE_BYTES
/** Total size of a multipart body without its files: fields, headers and delimiters. */
const MAX_OTHER_BYTES = MAX_FILE_BYTES
/** Disk budget in megabytes of a parser without a shared budget. */
const OWN_DISK_MB = 512
const MB = 1024 * 1024
const JSON_TYPES = ['json', '+json']

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
  const readText = createTextReader({ types: JSON_TYPES, maxBytes: maxJsonBytes })
  const withFolder = createUploadFolders(join(tmpdir(), 'drape-uploads'))
  const maxFilesBytes = Math.min(maxFiles * MAX_FILE_BYTES, MAX_FILES_BYTES)
  const limits = {
    maxFiles,
    maxFileBytes: MAX_FILE_BYTES,
    maxFilesBytes,
    maxFieldsBytes: maxJsonBytes,
    // A single file and its fields may have 11 MB, as on all routes that expect one file.
    maxBytes: maxFilesBytes + (maxFiles <= 1 ? MB : MAX_OTHER_BYTES),
  }
  return async function body(ctx, next) {
    ctx.state.files = []
    ctx.state.fields = {}
    if (ctx.is('multipart') && ctx.method === 'POST') {
      const share = disk(ownerOf(ctx))
      return withFolder(async (folder) => {
        const isHashed = ctx.get('idempotency-key') !== ''
        const form = await readMultipart(ctx.req, { ...limits, folder, isHashed, onBytes: share.add })
        Object.assign(ctx.state, form)
        ctx.state.body = parseJson(form.fields.data ?? '', 'data')
        assertStorable(ctx.state.body, '')
        assertStorable(form.fields, '')
        await next()
      }).finally(share.release)
    }
    ctx.state.body = parseJson(await readText(ctx), '')
    assertStorable(ctx.state.body, '')
    await next()
  }
}

/** Parses a JSON body of at most 1 MB. The handler checks whether it can be stored (`assertStorable`). */
export function parseJsonBody(): Middleware<AppState> {
  const readText = createTextReader({ types: JSON_TYPES, maxBytes: MB })
  return async function jsonBody(ctx, next) {
    const text = await readText(ctx)
    ctx.state.bodyBytes = Buffer.byteLength(text)
    ctx.state.body = parseJson(text, '')
    await next()
  }
}

function parseJson(text: string, path: string): unknown {
  return text === '' ? undefined : parseBoundedJson(text, path)
}
