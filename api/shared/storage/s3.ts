import { timingSafeEqual } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import {
  AbortMultipartUploadCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type MultipartUpload,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { attachment } from './attachment.ts'
import { assertContentType, assertKey, isKey, type ObjectStorage, type StoredObject, storageFault } from './object.ts'

export interface S3StorageSettings {
  readonly bucket: string
  /** What every key begins with in the bucket: empty, or ending in `/`. */
  readonly prefix: string
  readonly endpoint?: string
  readonly region: string
  /** The bucket in the path of URLs instead of in their host name. */
  readonly pathStyle: boolean
  /** How long one attempt may wait for a connection, and then for an answer. */
  readonly timeoutMs?: number
}

const DELETED_AT_ONCE = 1000

/** Objects in a bucket that speaks S3, with the credentials that AWS's tools would find. */
export function createS3Storage(settings: S3StorageSettings): ObjectStorage {
  const client = createClient(settings)
  const place = (key: string) => {
    assertKey(key)
    return { Bucket: settings.bucket, Key: settings.prefix + key }
  }
  const base = baseUrl(settings)
  const keyOf = (url: string) => {
    const key = url.startsWith(base) ? url.slice(base.length).split(/[?#]/, 1)[0] : ''
    return isKey(key) ? key : null
  }
  return {
    async put(key, content, { contentType }) {
      assertContentType(key, contentType)
      const Body = content instanceof Uint8Array ? content : await buffer(content)
      await faultless(client.send(new PutObjectCommand({ ...place(key), Body, ContentType: contentType })))
    },
    async get(key) {
      const found = await orNull(client.send(new GetObjectCommand(place(key))))
      return found?.Body ? Buffer.from(await faultless(found.Body.transformToByteArray())) : null
    },
    async open(key) {
      const found = await orNull(client.send(new GetObjectCommand(place(key))))
      if (!(found?.Body instanceof Readable) || found.ContentLength === undefined) return null
      return { content: found.Body, bytes: found.ContentLength }
    },
    async delete(keys) {
      const objects = keys.map((key) => ({ Key: place(key).Key }))
      for (let i = 0; i < objects.length; i += DELETED_AT_ONCE) {
        await deleteBatch(client, settings.bucket, objects.slice(i, i + DELETED_AT_ONCE))
      }
    },
    exists: async (key) => (await orNull(client.send(new HeadObjectCommand(place(key))))) !== null,
    async signedUrl(key, { expiresInSeconds, filename }) {
      const ResponseContentDisposition = filename === undefined ? undefined : attachment(filename)
      const command = new GetObjectCommand({ ...place(key), ResponseContentDisposition })
      return faultless(getSignedUrl(client, command, { expiresIn: expiresInSeconds }))
    },
    keyOf,
    async isSignedUrl(url) {
      const key = keyOf(url)
      const sent = URL.parse(url)?.searchParams
      const term = sent && readTerm(sent)
      if (key === null || !sent || !term || Date.now() > term.signingDate.getTime() + term.expiresIn * 1000)
        return false
      const ResponseContentDisposition = sent.get('response-content-disposition') ?? undefined
      const command = new GetObjectCommand({ ...place(key), ResponseContentDisposition })
      const signed = new URL(await faultless(getSignedUrl(client, command, term)))
      return isSameText(sortedQuery(sent), sortedQuery(signed.searchParams))
    },
    list: (folder = '') => list(client, settings, folder),
    async deleteIncomplete({ before, dryRun }) {
      let count = 0
      for await (const upload of listUploads(client, settings)) {
        if (upload.Initiated === undefined || upload.Initiated >= before) continue
        count++
        const { Key, UploadId } = upload
        const command = new AbortMultipartUploadCommand({ Bucket: settings.bucket, Key, UploadId })
        if (!dryRun) await faultless(client.send(command))
      }
      return count
    },
    async check() {
      await faultless(client.send(new HeadBucketCommand({ Bucket: settings.bucket })))
    },
    close: () => client.destroy(),
  }
}

const AMZ_DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/
/** Max lifetime of a presigned URL (Signature Version 4). */
const MAX_EXPIRES_SECONDS = 604_800

/** When a presigned URL was signed and for how many seconds; null where it says neither or something impossible. */
function readTerm(query: URLSearchParams): { signingDate: Date; expiresIn: number } | null {
  const date = query.get('X-Amz-Date') ?? ''
  const signingDate = new Date(date.replace(AMZ_DATE, '$1-$2-$3T$4:$5:$6Z'))
  const expiresIn = Number(query.get('X-Amz-Expires') ?? Number.NaN)
  const isPossible = Number.isInteger(expiresIn) && expiresIn > 0 && expiresIn <= MAX_EXPIRES_SECONDS
  return AMZ_DATE.test(date) && !Number.isNaN(signingDate.getTime()) && isPossible ? { signingDate, expiresIn } : null
}

function sortedQuery(query: URLSearchParams): string {
  const sorted = new URLSearchParams(query)
  sorted.sort()
  return sorted.toString()
}

function isSameText(a: string, b: string): boolean {
  const [one, other] = [a, b].map((text) => Buffer.from(text))
  return one.length === other.length && timingSafeEqual(one, other)
}

async function* list(
  client: S3Client,
  { bucket, prefix }: S3StorageSettings,
  folder: string,
): AsyncGenerator<StoredObject[]> {
  const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix + folder })
  for (let page = await faultless(pages.next()); !page.done; page = await faultless(pages.next())) {
    const objects = (page.value.Contents ?? []).map(({ Key = '', Size = 0, LastModified = new Date() }) => ({
      key: Key.slice(prefix.length),
      bytes: Size,
      modifiedAt: LastModified,
    }))
    yield objects.filter(({ key }) => isKey(key))
  }
}

/** Multipart uploads, which gateways and other tools start, are kept by a bucket until someone aborts them. */
async function* listUploads(client: S3Client, { bucket, prefix }: S3StorageSettings): AsyncGenerator<MultipartUpload> {
  let next: { KeyMarker?: string; UploadIdMarker?: string } = {}
  for (let isTruncated = true; isTruncated; ) {
    const command = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...next })
    const page = await faultless(client.send(command))
    yield* page.Uploads ?? []
    next = { KeyMarker: page.NextKeyMarker, UploadIdMarker: page.NextUploadIdMarker }
    isTruncated = page.IsTruncated ?? false
  }
}

function createClient({ endpoint, region, pathStyle, timeoutMs = 10_000 }: S3StorageSettings): S3Client {
  return new S3Client({
    endpoint,
    region,
    forcePathStyle: pathStyle,
    retryStrategy: { acquireInitialRetryToken: async () => attempt(0), refreshRetryTokenForRetry, recordSuccess() {} },
    requestHandler: {
      connectionTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      throwOnRequestTimeout: true,
    },
    // Many S3 servers other than Amazon's refuse the checksums that newer clients add by themselves.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
}

const ATTEMPTS = 3
const FIRST_PAUSE_MS = 50

type RetryStrategy = Exclude<S3ClientConfig['retryStrategy'] & {}, { retry: unknown }>

// The client's own strategy stops repeating when many requests have failed, so that a storage with one fault in five would fail
// one in five of our jobs.
const refreshRetryTokenForRetry: RetryStrategy['refreshRetryTokenForRetry'] = async (token, { errorType, error }) => {
  const next = token.getRetryCount() + 1
  if (next >= ATTEMPTS || errorType === 'CLIENT_ERROR') throw error ?? new Error('No more attempts')
  return attempt(next)
}

/** With a pause before it that grows and is never the same. */
function attempt(number: number) {
  const pause = number === 0 ? 0 : (0.5 + Math.random() / 2) * FIRST_PAUSE_MS * 4 ** number
  return { getRetryCount: () => number, getRetryDelay: () => Math.round(pause) }
}

/** What the URL of every object begins with. */
function baseUrl({ bucket, prefix, endpoint, region, pathStyle }: S3StorageSettings): string {
  const url = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
  if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`
  return `${url.href.replace(/\/$/, '')}/${pathStyle ? `${bucket}/` : ''}${prefix}`
}

async function deleteBatch(client: S3Client, bucket: string, objects: { Key: string }[]): Promise<void> {
  const command = new DeleteObjectsCommand({ Bucket: bucket, Delete: { Objects: objects, Quiet: true } })
  const { Errors = [] } = await faultless(client.send(command))
  if (Errors.length > 0) throw storageFault(new Error(`${Errors.length} objects not deleted: ${Errors[0].Message}`))
}

/** A missing object is an answer; a missing bucket or account, also a 404, is a fault. */
async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (cause) {
    if (cause instanceof NoSuchKey || cause instanceof NotFound) return null
    throw storageFault(cause)
  }
}

async function faultless<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw storageFault(cause)
  }
}
