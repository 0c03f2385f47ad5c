import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectRetentionCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ObjectStorage } from '../../../../api/shared/storage/object.ts'
import { createS3Storage } from '../../../../api/shared/storage/s3.ts'
import { startS3Server } from '../../../support/s3-server.ts'

const server = await startS3Server({ versions: true })
const JPEG = { contentType: 'image/jpeg' }

/** The steps of "Versions of objects in a bucket" in charts/drape/docs/backup.md. */
describe.skipIf('unavailable' in server)('a bucket with versioning', () => {
  if ('unavailable' in server) return
  const { endpoint, bucket: Bucket, credentials } = server
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials })
  let storage: ObjectStorage

  beforeAll(async () => {
    process.env.AWS_ACCESS_KEY_ID = credentials.accessKeyId
    process.env.AWS_SECRET_ACCESS_KEY = credentials.secretAccessKey
    const Status = 'Enabled' as const
    await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status } }))
    storage = createS3Storage({ bucket: Bucket, prefix: '', endpoint, region: 'us-east-1', pathStyle: true })
  })
  afterAll(async () => {
    storage?.close()
    client.destroy()
    await server.stop()
  })

  /** Versions and delete markers of a key, newest first. */
  const findVersions = async (Key: string) => {
    const { Versions = [], DeleteMarkers = [] } = await client.send(
      new ListObjectVersionsCommand({ Bucket, Prefix: Key }),
    )
    return { versions: Versions, markers: DeleteMarkers }
  }
  const read = async (key: string) => (await storage.get(key))?.toString() ?? null

  it('keeps an image that Drape deletes, and brings it back without its delete marker', async () => {
    const Key = 'results/deleted.jpg'
    await storage.put(Key, Buffer.from('image'), JPEG)
    await storage.delete([Key])
    expect(await read(Key)).toBeNull()
    expect(await storage.exists(Key)).toBe(false)
    const { versions, markers } = await findVersions(Key)
    expect(versions).toHaveLength(1)
    expect(markers).toMatchObject([{ IsLatest: true }])
    await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId: markers[0].VersionId }))
    expect(await read(Key)).toBe('image')
  })

  it('brings back an overwritten object by a copy of its earlier version', async () => {
    const Key = 'results/overwritten.jpg'
    await storage.put(Key, Buffer.from('first'), JPEG)
    await storage.put(Key, Buffer.from('second'), JPEG)
    const { versions } = await findVersions(Key)
    const earlier = versions.find(({ IsLatest }) => !IsLatest)
    expect(versions).toHaveLength(2)
    const CopySource = `${Bucket}/${Key}?versionId=${earlier?.VersionId}`
    await client.send(new CopyObjectCommand({ Bucket, Key, CopySource }))
    expect(await read(Key)).toBe('first')
    expect((await findVersions(Key)).versions).toHaveLength(3)
  })

  it('says of which objects it keeps versions, and of which not', async () => {
    const [Key, unknown] = ['persons/counted.jpg', 'persons/unknown.jpg']
    await storage.put(Key, Buffer.from('first'), JPEG)
    await storage.delete([Key])
    expect(await storage.countVersioned([])).toBe(0)
    expect(await storage.countVersioned([Key, unknown])).toBe(1)
    const { versions, markers } = await findVersions(Key)
    for (const { VersionId } of [...versions, ...markers])
      await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }))
    expect(await storage.countVersioned([Key, unknown])).toBe(0)
  })

  it('with object lock hides a locked image that is deleted, and says that it keeps it until the lock ends', async () => {
    const [Locked, Key] = ['locked', 'persons/locked.jpg']
    await client.send(new CreateBucketCommand({ Bucket: Locked, ObjectLockEnabledForBucket: true }))
    const locked = createS3Storage({ bucket: Locked, prefix: '', endpoint, region: 'us-east-1', pathStyle: true })
    const Retention = { Mode: 'COMPLIANCE' as const, RetainUntilDate: new Date(Date.now() + 60_000) }
    await locked.put(Key, Buffer.from('image'), JPEG)
    await client.send(new PutObjectRetentionCommand({ Bucket: Locked, Key, Retention }))
    await locked.delete([Key])
    expect(await locked.exists(Key)).toBe(false)
    expect(await locked.countVersioned([Key])).toBe(1)
    const { Versions = [] } = await client.send(new ListObjectVersionsCommand({ Bucket: Locked, Prefix: Key }))
    const removal = client.send(new DeleteObjectCommand({ Bucket: Locked, Key, VersionId: Versions[0].VersionId }))
    await expect(removal).rejects.toMatchObject({ $metadata: { httpStatusCode: 403 } })
    locked.close()
  })

  it('contains nothing of an erased image after the deletion of each version and delete marker', async () => {
    const Key = 'persons/erased.jpg'
    await storage.put(Key, Buffer.from('first'), JPEG)
    await storage.put(Key, Buffer.from('second'), JPEG)
    await storage.delete([Key])
    const { versions, markers } = await findVersions(Key)
    expect([versions.length, markers.length]).toEqual([2, 1])
    for (const { VersionId } of [...versions, ...markers])
      await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId }))
    expect(await findVersions(Key)).toEqual({ versions: [], markers: [] })
    expect(await read(Key)).toBeNull()
  })
})
