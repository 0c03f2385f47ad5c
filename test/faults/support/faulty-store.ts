import { once } from 'node:events'
import { createServer, request as forward } from 'node:http'
import type { AddressInfo } from 'node:net'
import { paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3'
import type { ObjectStorage } from '../../../api/shared/storage/object.ts'
import { createS3Storage } from '../../../api/shared/storage/s3.ts'
import { type S3Server, startS3Server } from '../../support/s3-server.ts'
import type { Random } from './random.ts'

const PREFIX = 'drape/'
const CALLER_GIVES_UP_MS = 30_000

/** An S3 server with injected faults. */
export interface FaultyStore {
  /** Settings for programs. */
  readonly env: Readonly<Record<string, string>>
  /** A storage without the faults. */
  readonly storage: ObjectStorage
  listResults(): Promise<readonly string[]>
  /** This share of the requests is refused, cut or never answered; alternately before and after the server has handled them. */
  injectFaults(share: number): void
  /** Number of faulty requests. */
  readonly faults: number
  stop(): Promise<void>
}

/** Returns the reason if no S3 server can run here. */
export async function startFaultyStore(random: Random): Promise<FaultyStore | { readonly unavailable: string }> {
  const server = await startS3Server()
  return 'unavailable' in server ? server : startBefore(server, random)
}

async function startBefore(server: S3Server, random: Random): Promise<FaultyStore> {
  const { hostname, port } = new URL(server.endpoint)
  let share = 0
  let faults = 0
  const door = createServer((request, response): unknown => {
    const fault = random.chance(share) ? random.pick(['refuse', 'cut', 'cut after', 'silence'] as const) : 'none'
    if (fault !== 'none') faults++
    if (fault === 'refuse') {
      request.resume()
      response.writeHead(503, { 'content-type': 'application/xml' })
      return response.end('<Error><Code>ServiceUnavailable</Code><Message>Reduce your request rate.</Message></Error>')
    }
    if (fault === 'cut') return request.socket.resetAndDestroy()
    if (fault === 'silence') return setTimeout(() => request.socket.destroy(), CALLER_GIVES_UP_MS).unref()
    const { method, url: path, headers } = request
    const onward = forward({ hostname, port, method, path, headers, setHost: false }, (answer): unknown => {
      if (fault === 'cut after') return request.socket.resetAndDestroy()
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      return answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    return request.pipe(onward)
  }).listen(0, '127.0.0.1')
  await once(door, 'listening')
  const endpoint = `http://127.0.0.1:${(door.address() as AddressInfo).port}`
  const { accessKeyId, secretAccessKey } = server.credentials
  const env = {
    STORAGE_URL: `s3://${server.bucket}/${PREFIX}?endpoint=${endpoint}&pathStyle=true`,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
  }
  Object.assign(process.env, env)
  const place = { endpoint: server.endpoint, region: 'us-east-1' }
  const client = new S3Client({ ...place, forcePathStyle: true, credentials: server.credentials })
  return {
    env,
    storage: createS3Storage({ ...place, bucket: server.bucket, prefix: PREFIX, pathStyle: true }),
    listResults: async () => {
      const found: string[] = []
      for await (const { Contents = [] } of paginateListObjectsV2(
        { client },
        { Bucket: server.bucket, Prefix: `${PREFIX}results/` },
      )) {
        found.push(...Contents.map(({ Key = '' }) => Key.slice(PREFIX.length)))
      }
      return found
    },
    injectFaults: (next) => {
      share = next
    },
    get faults() {
      return faults
    },
    stop: async () => {
      door.closeAllConnections()
      door.close()
      client.destroy()
      await server.stop()
    },
  }
}
