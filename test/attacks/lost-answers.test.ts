import { ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3'
import { afterAll, describe, expect, it } from 'vitest'
import { Type } from '../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../api/shared/database/database.ts'
import { createFileStorage } from '../../api/shared/storage/file.ts'
import { formOf, readSample, readSmallPerson, startDrape } from '../support/drape.ts'
import { startLosingLine } from '../support/losing-line.ts'
import { startProgram } from '../support/process.ts'
import { startS3Server } from '../support/s3-server.ts'

const server = await startS3Server()

const Photo = rowType(Type.Object({ key: Type.String() }))

describe('a lost response', async () => {
  const person = await readSmallPerson()
  const drape = await startDrape()
  const database = drape.database
  const root = drape.env.STORAGE_URL.slice('file:'.length)
  const storage = createFileStorage({ root, publicUrl: '', signingSecret: '' })
  const product = { externalId: 'shirt', images: [{ source: { fileKey: 'shirt' } }] }
  const shirt = await readSample('garments/tshirt-navy.jpg')
  await drape.call('POST', '/tryon/v1/products', { body: formOf(product, { shirt }) })
  afterAll(async () => {
    await drape.stop()
    if ('stop' in server) await server.stop()
  })

  it('of Postgres to an acceptance keeps the photo, and the repeated call completes', async () => {
    const url = new URL(drape.env.DATABASE_URL)
    await using line = await startLosingLine({ host: url.hostname, port: Number(url.port) })
    url.port = String(line.port)
    const api = await startProgram('api', { ...drape.env, DATABASE_URL: url.href })
    try {
      const body = {
        products: [{ externalId: 'shirt' }],
        person: { image: { source: { fileKey: 'me' } } },
        externalUserId: 'lost',
        output: { engine: 'mock', deadlineSeconds: 3600 },
      }
      const post = () =>
        fetch(`${api.url}/tryon/v1/try-on`, {
          method: 'POST',
          headers: { 'x-api-key': drape.apiKey, 'idempotency-key': 'lost' },
          body: formOf(body, { me: person }),
        })
      const heal = line.loseAnswersTo('insert into generations')
      expect((await post()).status).toBe(503)
      heal()
      const photos = await database.anyFirst(sql.type(Photo)`
        select object_key as key from generations join images on images.id = image_id
        where generations.external_user_id = 'lost'`)
      expect(photos).toHaveLength(1)
      expect(await storage.exists(photos[0])).toBe(true)
      await drape.startWorker({ ENGINES: 'mock', QUEUES: 'try-on' })
      const again = await post()
      expect(again.status).toBe(201)
      const { generationId } = (await again.json()) as { generationId: string }
      expect(await drape.finish(generationId)).toMatchObject({ status: 'COMPLETED' })
    } finally {
      await api.end()
    }
  })

  it.skipIf('unavailable' in server)('of the storage does not keep a photo from its erasure', async () => {
    if ('unavailable' in server) return
    const { hostname, port } = new URL(server.endpoint)
    await using line = await startLosingLine({ host: hostname, port: Number(port) })
    const { accessKeyId, secretAccessKey } = server.credentials
    const api = await startProgram('api', {
      ...drape.env,
      STORAGE_URL: `s3://${server.bucket}?endpoint=http://127.0.0.1:${line.port}&pathStyle=true`,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
    })
    const client = new S3Client({
      endpoint: server.endpoint,
      region: 'us-east-1',
      forcePathStyle: true,
      credentials: server.credentials,
    })
    const listKeys = async () => {
      const { Contents = [] } = await client.send(
        new ListObjectsV2Command({ Bucket: server.bucket, Prefix: 'persons/' }),
      )
      return Contents.map(({ Key }) => Key)
    }
    try {
      const body = formOf(undefined, { file: person })
      body.set('externalUserId', 'unanswered')
      const headers = { 'x-api-key': drape.apiKey }
      const heal = line.loseAnswersTo('PUT /')
      const upload = await fetch(`${api.url}/tryon/v1/images/upload`, { method: 'POST', headers, body })
      heal()
      expect(upload.status).toBe(503)
      expect(await listKeys()).toHaveLength(1)
      const erasure = await fetch(`${api.url}/tryon/v1/customers/unanswered`, { method: 'DELETE', headers })
      expect(erasure.status).toBe(204)
      expect(await listKeys()).toEqual([])
    } finally {
      client.destroy()
      await api.end()
    }
  })

  it('is not assumed for a refused call, whose photo is deleted', async () => {
    const { id, apiKey: key } = await drape.createAccount(0)
    const body = { products: [{ externalId: 'x' }], person: { image: { source: { fileKey: 'me' } } } }
    const call = await drape.call('POST', '/tryon/v1/try-on', { key, body: formOf(body, { me: person }) })
    expect(call).toMatchObject({ status: 404, body: { code: 'PRODUCT_NOT_FOUND' } })
    const keys = await database.anyFirst(sql.type(Photo)`select key from objects where account_id = ${id}`)
    for (const each of keys) expect(await storage.exists(each)).toBe(false)
  })
})
