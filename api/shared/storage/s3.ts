import { createHash, timingSafeEqual } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  type MultipartUpload,
  NoSuchKey,
  NotFound,
  PutObjectCommand,
  paginateListObjectsV2,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { agentOptions } from '../network/proxies.ts'
import { attachment } from './attachment.ts'
import {
  assertContentType,
  assertKey,
  cacheControl,
  DeletionRefused,
  isKey,
  type ObjectStorage,
  type StoredObject,
  storageError,
  withStorageErrors,
} from './object.ts'
import { createDeletion, type DeletionWay, isRefusal, isUnsupported, statusOf } from './s3-deletion.ts'

export interface S3StorageSettings {
  readonly bucket: string
  /** Prefix of every key in the bucket: empty, or ending in `/`. */
  readonly prefix: string
  readonly endpoint?: string
  /** Endpoint of links, where callers reach the store by another name than this process. */
  readonly publicEndpoint?: string
  readonly region: string
  /** Whether URLs contain the bucket in their path instead of in their host name. */
  readonly pathStyle: boolean
  /** Time limit of one attempt for the connection, and again for the response. */
  readonly timeoutMs?: number
  /** Called with the reason when the server lacks a way to delete objects and another one works. */
  readonly onFallback?: (reason: string) => void
}

/** Stores objects in an S3 bucket, with credentials from AWS's default chain. */
export function createS3Storage(settings: S3StorageSettings): ObjectStorage {
  const client = createClient(settings)
  const publicSettings = { ...settings, endpoint: settings.publicEndpoint ?? settings.endpoint }
  const linkClient = settings.publicEndpoint === undefined ? client : createClient(publicSettings)
  const place = (key: string) => {
    assertKey(key)
    return { Bucket: settings.bucket, Key: settings.prefix + key }
  }
  const { bucket, onFallback = () => {} } = settings
  const deleteNames = createDeletion(deletionWays({ client, bucket }), onFallback)
  // Links from before the public endpoint was set lead to the same objects.
  const places = [
    { base: baseUrl(publicSettings), client: linkClient },
    { base: baseUrl(settings), client },
  ]
  const findPlace = (url: string) => places.find(({ base }) => url.startsWith(base))
  const keyOf = (url: string) => {
    const key = url.slice(findPlace(url)?.base.length ?? url.length).split(/[?#]/, 1)[0]
    return isKey(key) ? key : null
  }
  return {
    async put(key, content, { contentType }) {
      assertContentType(key, contentType)
      const Body = content instanceof Uint8Array ? content : await buffer(content)
      await withStorageErrors(client.send(new PutObjectCommand({ ...place(key), Body, ContentType: contentType })))
    },
    async get(key) {
      const found = await orNull(client.send(new GetObjectCommand(place(key))))
      return found?.Body ? Buffer.from(await withStorageErrors(found.Body.transformToByteArray())) : null
    },
    async open(key) {
      const found = await orNull(client.send(new GetObjectCommand(place(key))))
      if (!(found?.Body instanceof Readable) || found.ContentLength === undefined) return null
      return { content: found.Body, bytes: found.ContentLength }
    },
    async delete(keys) {
      const names = keys.map((key) => place(key).Key)
      const { refused, cause } = await deleteNames(names)
      if (refused.length > 0)
        throw new DeletionRefused(
          refused.map((name) => name.slice(settings.prefix.length)),
          cause,
        )
    },
    exists: async (key) => (await orNull(client.send(new HeadObjectCommand(place(key))))) !== null,
    countVersioned: (keys) =>
      countVersioned(
        client,
        keys.map((key) => place(key)),
      ),
    async signedUrl(key, { expiresInSeconds, filename }) {
      const ResponseContentDisposition = filename === undefined ? undefined : attachment(filename)
      const ResponseCacheControl = cacheControl(expiresInSeconds)
      const command = new GetObjectCommand({ ...place(key), ResponseContentDisposition, ResponseCacheControl })
      return withStorageErrors(getSignedUrl(linkClient, command, { expiresIn: expiresInSeconds }))
    },
    keyOf,
    async isSignedUrl(url) {
      const key = keyOf(url)
      const sent = URL.parse(url)?.searchParams
      const term = sent && readTerm(sent)
      if (key === null || !sent || !term || Date.now() > term.signingDate.getTime() + term.expiresIn * 1000)
        return false
      const ResponseContentDisposition = sent.get('response-content-disposition') ?? undefined
      const ResponseCacheControl = sent.get('response-cache-control') ?? undefined
      const command = new GetObjectCommand({ ...place(key), ResponseContentDisposition, ResponseCacheControl })
      const signer = findPlace(url)?.client ?? client
      const signed = new URL(await withStorageErrors(getSignedUrl(signer, command, term)))
      return isSameText(sortedQuery(sent), sortedQuery(signed.searchParams))
    },
    list: (folder = '', { after } = {}) => list(client, settings, { folder, after }),
    async deleteIncomplete({ before, dryRun }) {
      let count = 0
      for await (const upload of listUploads(client, settings)) {
        if (upload.Initiated === undefined || upload.Initiated >= before) continue
        count++
        const { Key, UploadId } = upload
        const command = new AbortMultipartUploadCommand({ Bucket: settings.bucket, Key, UploadId })
        if (!dryRun) await withStorageErrors(client.send(command))
      }
      return count
    },
    async check() {
      await withStorageErrors(client.send(new HeadBucketCommand({ Bucket: settings.bucket })))
    },
    close: () => {
      client.destroy()
      linkClient.destroy()
    },
  }
}

const AMZ_DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/
/** Maximum lifetime of a presigned URL (Signature Version 4). */
const MAX_EXPIRES_SECONDS = 604_800

/** Signing time and lifetime in seconds of a presigned URL; null when missing or invalid. */
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
  { folder, after }: { folder: string; after: string | undefined },
): AsyncGenerator<StoredObject[]> {
  const StartAfter = after === undefined ? undefined : prefix + after
  const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: prefix + folder, StartAfter })
  for (let page = await withStorageErrors(pages.next()); !page.done; page = await withStorageErrors(pages.next())) {
    const objects = (page.value.Contents ?? []).map(({ Key = '', Size = 0, LastModified = new Date() }) => ({
      key: Key.slice(prefix.length),
      bytes: Size,
      modifiedAt: LastModified,
    }))
    yield objects.filter(({ key }) => isKey(key))
  }
}

/** Multipart uploads, which gateways and other tools start; a bucket keeps them until they are aborted. */
async function* listUploads(client: S3Client, { bucket, prefix }: S3StorageSettings): AsyncGenerator<MultipartUpload> {
  let next: { KeyMarker?: string; UploadIdMarker?: string } = {}
  for (let isTruncated = true; isTruncated; ) {
    const command = new ListMultipartUploadsCommand({ Bucket: bucket, Prefix: prefix, ...next })
    const page = await withStorageErrors(client.send(command))
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
      ...agentOptions(),
      connectionTimeout: timeoutMs,
      requestTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      throwOnRequestTimeout: true,
    },
    // Many S3 servers other than Amazon's reject the checksums that newer clients add by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  })
}

const ATTEMPTS = 3
const FIRST_PAUSE_MS = 50

type RetryStrategy = Exclude<S3ClientConfig['retryStrategy'] & {}, { retry: unknown }>

// The client's default strategy stops retrying after many failures, so a storage that fails 1 in 5 requests would fail
// 1 in 5 jobs.
const refreshRetryTokenForRetry: RetryStrategy['refreshRetryTokenForRetry'] = async (token, { errorType, error }) => {
  const next = token.getRetryCount() + 1
  if (next >= ATTEMPTS || errorType === 'CLIENT_ERROR') throw error ?? new Error('No more attempts')
  return attempt(next)
}

/** Exponential backoff with jitter. */
function attempt(number: number) {
  const pause = number === 0 ? 0 : (0.5 + Math.random() / 2) * FIRST_PAUSE_MS * 4 ** number
  return { getRetryCount: () => number, getRetryDelay: () => Math.round(pause) }
}

/** URL prefix of all objects. */
function baseUrl({ bucket, prefix, endpoint, region, pathStyle }: S3StorageSettings): string {
  const url = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
  if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`
  return `${url.href.replace(/\/$/, '')}/${pathStyle ? `${bucket}/` : ''}${prefix}`
}

interface Place {
  readonly client: S3Client
  readonly bucket: string
}

const deletionWays = (place: Place): DeletionWay[] => [
  { name: 'DeleteObjects with x-amz-checksum-crc32', deleteBatch: (names) => deleteTogether(place, names) },
  {
    name: 'DeleteObjects with Content-MD5',
    deleteBatch: (names) => deleteTogether(place, names, { isWithMd5: true }),
  },
  { name: 'DeleteObject for each object', deleteBatch: (names) => deleteSingly(place, names) },
]

/** Codes of objects that the server protects; others, such as `SlowDown`, are faults of the server. */
const REFUSALS = /^AccessDenied$|Lock/

async function deleteTogether(
  { client, bucket }: Place,
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

/** Versions include those of objects whose keys begin with this key; a key with an ending has no such neighbours. */
async function countVersioned(client: S3Client, places: readonly { Bucket: string; Key: string }[]) {
  const [first] = places
  if (first === undefined) return 0
  try {
    const { Status } = await client.send(new GetBucketVersioningCommand({ Bucket: first.Bucket }))
    if (!Status) return 0
    let count = 0
    for (let i = 0; i < places.length; i += CONCURRENCY) {
      const found = await Promise.all(
        places.slice(i, i + CONCURRENCY).map(async ({ Bucket, Key }) => {
          const { Versions = [] } = await client.send(new ListObjectVersionsCommand({ Bucket, Prefix: Key }))
          return Versions.some((version) => version.Key === Key)
        }),
      )
      count += found.filter(Boolean).length
    }
    return count
  } catch (error) {
    // The server does not know the request, or the key lacks the permission.
    if (isRefusal(error) || isUnsupported(error)) return null
    throw storageError(error)
  }
}

/** Maximum concurrent requests for single objects. */
const CONCURRENCY = 16

async function deleteSingly({ client, bucket }: Place, names: readonly string[]): Promise<string[]> {
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

/** A missing object yields null; a missing bucket or account, also a 404, is an error. */
async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (cause) {
    if (cause instanceof NoSuchKey || cause instanceof NotFound) return null
    throw storageError(cause)
  }
}
