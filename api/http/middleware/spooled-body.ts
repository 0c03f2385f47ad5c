import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Middleware } from 'koa'
import { DrapeError, invalidField } from '../../shared/contract/errors.ts'
import type { DiskBudget, DiskShare } from '../bodies/disk-budget.ts'
import { createUploadFolders } from '../bodies/upload-folders.ts'
import type { AppState } from '../state.ts'
import { MAX_FILE_BYTES } from './body.ts'

/**
 * Streams the body to a temporary file and computes its hash: `ctx.state.files[0]`. Deletes the file when the request
 * ends. `ctx.state.fields.type` is the name of the content type. Throws `VALIDATION_FAILED` for any other content type
 * and `FILE_TOO_LARGE` over 10 MB.
 */
export function spoolBody(
  types: Readonly<Record<string, readonly string[]>>,
  { disk, root = join(tmpdir(), 'drape-uploads') }: { disk: DiskBudget; root?: string },
): Middleware<AppState> {
  const withFolder = createUploadFolders(root)
  const all = Object.values(types).flat()
  return async function spool(ctx, next) {
    const sent = ctx.is([...all])
    const [name] = Object.entries(types).find(([, of]) => of.includes(sent || '')) ?? []
    const isPlain = ['', 'identity'].includes(ctx.get('content-encoding').toLowerCase())
    if (name === undefined || !isPlain || (ctx.req.destroyed && !ctx.req.readableEnded)) {
      ctx.req.resume()
      if (name === undefined) throw invalidField('Content-Type', `must be one of ${all.join(', ')}`)
      throw isPlain ? invalidField('', 'could not be read') : invalidField('Content-Encoding', 'must be identity')
    }
    const share = disk(ctx.state.account.id)
    return withFolder(async (folder) => {
      const path = join(folder, 'body')
      const file = await open(path, 'wx', 0o600)
      const received = await receive(ctx.req, file, share).finally(() => {
        // Reads and drops the rest of a rejected body, so that the response reaches the sender.
        ctx.req.resume()
        return file.close()
      })
      ctx.state.body = undefined
      ctx.state.fields = { type: name }
      ctx.state.files = [{ field: 'body', path, ...received }]
      await next()
    }).finally(share.release)
  }
}

async function receive(
  request: NodeJS.ReadableStream & { iterator(options: { destroyOnReturn: boolean }): AsyncIterable<Buffer> },
  file: FileHandle,
  share: DiskShare,
): Promise<{ bytes: number; hash: string }> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length
    if (bytes > MAX_FILE_BYTES) throw new DrapeError('FILE_TOO_LARGE', 'The body is larger than 10 MB.')
    share.add(chunk.length)
    hash.update(chunk)
    await write(file, chunk)
  }
  return { bytes, hash: hash.digest('hex') }
}

async function write(file: FileHandle, chunk: Buffer): Promise<void> {
  try {
    await file.writeFile(chunk)
  } catch (cause) {
    throw new DrapeError('SERVICE_UNAVAILABLE', 'The body cannot be stored right now. Send the request again.', {
      retryable: true,
      cause,
    })
  }
}
