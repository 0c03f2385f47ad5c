import { createHash } from 'node:crypto'
import { DeleteObjectCommand, DeleteObjectsCommand, type S3Client } from '@aws-sdk/client-s3'
import { storageError } from './object.ts'

const MAX_PER_REQUEST = 1000
/** Maximum refused requests per call, and before the first deletion; beyond the latter, the whole bucket refuses. */
const MAX_REFUSALS = 100
const MAX_REFUSALS_AT_FIRST = 32
/** Maximum concurrent requests of a server without `DeleteObjects`. */
const CONCURRENCY = 16

/** Deletes objects with one request. Returns the names that the server refused. Throws the error of the server. */
type DeleteBatch = (names: readonly string[]) => Promise<readonly string[]>

interface Bucket {
  readonly client: S3Client
  readonly bucket: string
}

/**
 * Deletes the objects of a bucket in the first way that its server accepts: `DeleteObjects` with a checksum, `DeleteObjects`
 * with `Content-MD5`, or `DeleteObject` for each object. Calls back with the reason when it falls back to a later way, which it
 * then keeps.
 */
export function createDeletion(place: Bucket, onFallback: (reason: string) => void) {
  const ways: { name: string; deleteBatch: DeleteBatch }[] = [
    { name: 'DeleteObjects with x-amz-checksum-crc32', deleteBatch: (names) => deleteTogether(place, names) },
    {
      name: 'DeleteObjects with Content-MD5',
      deleteBatch: (names) => deleteTogether(place, names, { isWithMd5: true }),
    },
    { name: 'DeleteObject for each object', deleteBatch: (names) => deleteSingly(place, names) },
  ]
  let accepted = 0

  async function deleteBatch(names: readonly string[], way = accepted): Promise<readonly string[]> {
    try {
      const refused = await ways[way].deleteBatch(names)
      accepted = Math.max(accepted, way)
      return refused
    } catch (error) {
      if (!isUnsupported(error) || way + 1 === ways.length) throw error
      const refused = await deleteBatch(names, way + 1)
      // Only now: a server that rejects every way does not lack this one.
      onFallback(
        `The object storage rejects ${ways[way].name} (${describe(error)}): objects are deleted with ${ways[accepted].name}.`,
      )
      return refused
    }
  }

  return (names: readonly string[]) => deleteAll(names, deleteBatch)
}

/** Whether the server does not know the request or one of its headers. */
function isUnsupported(error: unknown): boolean {
  const status = statusOf(error) ?? 0
  return status === 501 || (status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status))
}

function describe(error: unknown): string {
  const { name, message } = error as Error
  return `${statusOf(error) ?? 'no answer'} ${name === 'Error' ? message : name}`
}

function statusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode
}

/**
 * Deletes objects by requests of at most 1000. Some servers refuse the request (403) because of one object: the request is
 * repeated with each half, so that all others are deleted. Returns the names that are not deleted, and the last refusal.
 * When the first requests are all refused, nothing else is requested, and all names are returned.
 * @throws DrapeError SERVICE_UNAVAILABLE for other errors
 */
async function deleteAll(
  names: readonly string[],
  deleteBatch: DeleteBatch,
): Promise<{ refused: string[]; cause: unknown }> {
  const refused: string[] = []
  let [refusals, deleted] = [0, 0]
  let cause: unknown = new Error('The storage names objects that it did not delete.')
  const parts: (readonly string[])[] = []
  for (let i = 0; i < names.length; i += MAX_PER_REQUEST) parts.push(names.slice(i, i + MAX_PER_REQUEST))
  for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
    if (refusals >= MAX_REFUSALS) {
      refused.push(...part)
      continue
    }
    try {
      const left = await deleteBatch(part)
      refused.push(...left)
      deleted += part.length - left.length
    } catch (error) {
      if (!isRefusal(error))
        throw storageError(new Error(`Objects are not deleted: ${describe(error)}`, { cause: error }))
      cause = error
      if (++refusals >= MAX_REFUSALS_AT_FIRST && deleted === 0) return { refused: [...names], cause }
      const half = Math.ceil(part.length / 2)
      if (part.length === 1) refused.push(...part)
      // Last, so that adjacent refused objects do not look like a bucket that refuses everything.
      else parts.push(part.slice(0, half), part.slice(half))
    }
  }
  return { refused, cause }
}

/** A refusal of the server, which a repetition does not change. */
function isRefusal(error: unknown): boolean {
  return statusOf(error) === 403
}

/** Codes of objects that the server protects; others, such as `SlowDown`, are faults of the server. */
const REFUSALS = /^AccessDenied$|Lock/

async function deleteTogether(
  { client, bucket }: Bucket,
  names: readonly string[],
  { isWithMd5 = false } = {},
): Promise<string[]> {
  const Objects = names.map((Key) => ({ Key }))
  const command = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects, Quiet: true } })
  if (isWithMd5) useMd5(command)
  const { Errors = [] } = await client.send(command)
  const fault = Errors.find(({ Code = '' }) => !REFUSALS.test(Code))
  if (fault !== undefined) throw new Error(`${Errors.length} objects not deleted: ${fault.Message}`)
  return Errors.map(({ Key = '' }) => Key)
}

/** Replaces the checksum of the request by `Content-MD5`, which older servers require. */
function useMd5({ middlewareStack }: DeleteObjectsCommand): void {
  middlewareStack.add(
    (next) => (args) => {
      const { headers, body } = args.request as { headers: Record<string, string>; body: string | Uint8Array }
      for (const name of Object.keys(headers)) if (/^x-amz-(sdk-)?checksum-/i.test(name)) delete headers[name]
      headers['content-md5'] = createHash('md5').update(body).digest('base64')
      return next(args)
    },
    // After the client's own step adds the checksum, before it signs the request.
    { name: 'contentMd5', step: 'build', priority: 'low' },
  )
}

async function deleteSingly({ client, bucket }: Bucket, names: readonly string[]): Promise<string[]> {
  const refused: string[] = []
  const remove = async (name: string) => {
    try {
      await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: name }))
    } catch (error) {
      if (statusOf(error) === 404 && (error as Error).name === 'NoSuchKey') return
      if (!isRefusal(error)) throw error
      refused.push(name)
    }
  }
  for (let i = 0; i < names.length; i += CONCURRENCY) await Promise.all(names.slice(i, i + CONCURRENCY).map(remove))
  return refused
}
