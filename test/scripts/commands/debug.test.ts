import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { v7 as uuidv7 } from 'uuid'
import { afterAll, describe, expect, it } from 'vitest'
import { sql } from '../../../api/shared/database/database.ts'
import { createWebhooks } from '../../../api/webhooks/webhooks.store.ts'
import { copyGeneration } from '../../support/accepted.ts'
import { createCommandLine, outputOf } from '../../support/command-line.ts'
import { readSample, readSmallPerson, startDrape } from '../../support/drape.ts'
import { asProcess } from '../../support/process-roles.ts'
import { until } from '../../support/until.ts'

const SECRET_URL = '/shirt.jpg?X-Amz-Signature=do-not-print'
const CUSTOMER = 'ada@example.com'

interface Printed {
  readonly status: string
  readonly waitsFor: string | null
  readonly seconds: number
  readonly timeline: readonly { at: string; seconds: number; event: string; detail: string | null }[]
  readonly ahead: readonly { event: string }[]
  readonly stages: readonly { stage: string; ms: number }[]
  readonly storage: readonly { object: string; state: string }[]
  readonly webhooks: readonly { endpoint: string; status: string; attempts: number }[]
  readonly unread: readonly { source: string; reason: string }[]
}

describe('drape debug', async () => {
  const images = serveImages()

  const person = await readSmallPerson()
  const port = await images.listen()
  const drape = await startDrape({ env: { FETCH_ALLOW_PORTS: `${port}` } })
  const { id } = await createWebhooks(drape.database).insert({
    accountId: drape.accountId,
    url: `http://127.0.0.1:${port}/hook?token=do-not-print`,
    eventTypes: ['generation.completed', 'generation.failed'],
    secret: `whsec_${Buffer.alloc(24, 7).toString('base64')}`,
  })
  const endpoint = id
  afterAll(async () => {
    images.close()
    await drape?.stop()
  })

  const debug = async (id: string, variables: Record<string, string> = {}): Promise<Printed> => {
    const line = createCommandLine(asProcess(drape.env.DATABASE_URL, 'api'), { ...drape.env, ...variables })
    const { code, output, stderr } = await line.drape('debug', id)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    // The account has an e-mail address of a customer, URLs with a signature and a token, keys of the storage.
    expect(output).not.toMatch(/do-not-print|ada@example|https?:|persons\/|results\/|whsec_/)
    return JSON.parse(output)
  }
  const tryOn = (source: object, files: Record<string, Buffer> = { me: person }) =>
    drape.tryOn(
      {
        products: [{ images: [{ source }] }],
        person: { image: { source: { fileKey: 'me' } } },
        customerId: CUSTOMER,
        output: { engine: 'mock' },
      },
      files,
    )
  const events = ({ timeline }: Printed) => timeline.map(({ event }) => event)

  it('shows what a generation waits for, then its cancellation', async () => {
    const id = await tryOn({ fileKey: 'me' })
    const waiting = await debug(id)
    expect(waiting).toMatchObject({
      status: 'PENDING',
      waitsFor: 'a worker: no live worker runs the engine mock',
      unread: [],
    })
    expect(waiting.ahead.map(({ event }) => event)).toContain('deadline')
    expect(events(waiting)).toEqual(expect.arrayContaining(['photo stored', 'accepted']))
    await drape.call('POST', `/tryon/v1/generations/${id}/cancel`)
    const cancelled = await until(async () => {
      const seen = await debug(id)
      return events(seen).includes('webhook delivered') && seen
    })
    expect(cancelled).toMatchObject({ status: 'FAILED', errorCode: 'GENERATION_CANCELLED', waitsFor: null })
    expect(events(cancelled).filter((event) => event !== 'photo stored' && event !== 'product image stored')).toEqual([
      'accepted',
      'failed',
      'webhook queued',
      'webhook delivered',
    ])
  })

  it('shows both workers of a generation retried after a worker crash', async () => {
    images.hold()
    const first = await drape.startWorker({}, { separate: true })
    const id = await tryOn({ url: images.url() })
    const running = await until(async () => {
      const seen = await debug(id)
      return seen.status === 'PROCESSING' && seen
    })
    expect(running.waitsFor).toMatch(/^the worker \S+, progress \d+ %$/)
    expect(running.ahead.map(({ event }) => event)).toContain('lease expires')
    await first.end('SIGKILL')
    await until(async () => (await debug(id)).status === 'PENDING')
    images.release()
    await drape.startWorker()
    expect((await drape.finish(id)).status).toBe('COMPLETED')
    const done = await until(async () => {
      const seen = await debug(id)
      return events(seen).includes('webhook delivered') && seen
    })
    const lines = done.timeline.map(({ event, detail }) => `${event}: ${detail}`)
    const inOrder = [
      /^accepted: engine mock$/,
      /^dispatched: attempt 1$/,
      new RegExp(`^started: attempt 1 on \\S+-${first.pid}$`),
      new RegExp(`^lease expired: the worker was lost: attempt 1 on \\S+-${first.pid}$`),
      /^dispatched: attempt 2$/,
      /^started: attempt 2 on /,
      /^result stored/,
      /^completed/,
      new RegExp(`^webhook queued: generation.completed to ${endpoint}$`),
      new RegExp(`^webhook delivered: ${endpoint}: attempt 1, HTTP 200$`),
    ]
    const places = inOrder.map((line) => lines.findIndex((text) => line.test(text)))
    expect(places, lines.join('\n')).toEqual([...places].sort((a, b) => a - b))
    expect(places).not.toContain(-1)
    expect(done.stages.map(({ stage }) => stage)).toEqual(expect.arrayContaining(['decode', 'engine', 'encode']))
    expect(done.storage).toMatchObject([
      { object: 'photo', state: 'present' },
      { object: 'result', state: 'present' },
    ])
    expect(done.unread).toEqual([])
    // A job and an event have IDs that logs and webhooks name.
    expect((await debug(`${id}-2`)).timeline).toEqual(done.timeline)
    expect((await debug(id.replace('gen_', 'evt_'))).timeline).toEqual(done.timeline)
  })

  it('shows charge and refund of a failed generation, without the image URL', async () => {
    const { id: accountId, apiKey: key } = await drape.createAccount(5)
    const data = {
      products: [{ images: [{ source: { url: images.url('/missing') } }] }],
      person: { image: { source: { fileKey: 'me' } } },
    }
    const form = new FormData()
    form.set('data', JSON.stringify(data))
    form.set('me', new Blob([new Uint8Array(person)]), 'me.jpg')
    const { body } = await drape.call('POST', '/tryon/v1/try-on', { body: form, key })
    const failed = await until(async () => {
      const seen = await debug(body.generationId)
      return seen.status === 'FAILED' && seen
    })
    expect(failed).toMatchObject({ account: accountId, errorCode: 'PRODUCT_IMAGE_FETCH_FAILED', webhooks: [] })
    expect(failed.timeline.map(({ event, detail }) => [event, detail])).toEqual(
      expect.arrayContaining([
        ['charged', '-1 credits'],
        ['failed', 'PRODUCT_IMAGE_FETCH_FAILED'],
        ['refunded', '1 credits'],
      ]),
    )
  })

  it('lists unreadable objects and deleted images', async () => {
    const id = await tryOn({ fileKey: 'me' })
    await drape.finish(id)
    await rm(new URL('results', `${pathOf(drape.env.STORAGE_URL)}/`), { recursive: true })
    const lost = await debug(id)
    expect(lost.storage.find(({ object }) => object === 'result')?.state).toMatch(/^missing: /)
    await drape.database.query(sql.unsafe`delete from objects where kind in ('person', 'result')`)
    const gone = await debug(id)
    expect(gone.storage).toEqual(
      expect.arrayContaining(
        ['photo', 'result'].map((object) => expect.objectContaining({ object, state: 'deleted' })),
      ),
    )
    const without = await debug(id, { STORAGE_URL: 'file:/dev/null/objects', REDIS_URL: 'redis://127.0.0.1:1' })
    expect(without.unread.map(({ source }) => source)).toEqual(['storage'])
    const waitingId = await copyGeneration(drape.database, id, { status: 'PENDING', attempt: 3, finished_at: null })
    const blind = await debug(waitingId, { REDIS_URL: 'redis://127.0.0.1:1' })
    expect(blind.unread).toEqual([
      { source: 'Redis', reason: 'Redis does not respond: connect ECONNREFUSED 127.0.0.1:1' },
    ])
  })

  it('prints a table by default', async () => {
    const id = await tryOn({ fileKey: 'me' })
    await drape.finish(id)
    const output = await outputOf(['debug', id], { ...process.env, ...drape.env })
    expect(output).toMatch(new RegExp(`^generation +${id}$`, 'm'))
    expect(output).toMatch(/^timeline:\nat +seconds +event +detail$/m)
    expect(output).toMatch(/^\S+Z +0 +accepted +engine mock$/m)
    expect(output).toMatch(/^unread: none$/m)
  })

  it('exits with 1 for an unknown ID and with 2 for an invalid ID', async () => {
    const { drape: run } = createCommandLine(drape.env.DATABASE_URL, drape.env)
    const unknown = `gen_${uuidv7()}`
    expect(await run('debug', unknown)).toEqual({
      code: 1,
      output: '',
      stderr: `The generation ${unknown} does not exist.\n`,
    })
    for (const other of ['img_01939f4e-6b1d-7c3a-9d52-3f1f0c9e8b7d', '01939f4e', "gen_' or 1=1"]) {
      expect(await run('debug', other)).toMatchObject({ code: 2, output: '', stderr: expect.stringContaining('gen_…') })
    }
    expect(await run('debug')).toMatchObject({ code: 2 })
    const nowhere = createCommandLine('postgres://nobody@127.0.0.1:1/nothing', drape.env)
    expect(await nowhere.drape('debug', unknown)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Postgres does not respond'),
    })
  })
})

function pathOf(storageUrl: string): string {
  return `file://${fileURLToPath(storageUrl)}`
}

/** Serves a product image that can be held back, and takes webhooks. */
function serveImages() {
  const held = new Set<ServerResponse>()
  let isHeld = false
  let image: Buffer
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') return void response.writeHead(200).end()
    if (request.url?.startsWith('/missing')) return void response.writeHead(404).end()
    response.writeHead(200, { 'content-type': 'image/jpeg' })
    if (!isHeld) return void response.end(image)
    response.flushHeaders()
    held.add(response)
  })
  const findPort = () => (server.address() as AddressInfo).port
  return {
    listen: async () => {
      image = await readSample('garments/tshirt-mustard.jpg')
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      return findPort()
    },
    url: (path = '') => `http://127.0.0.1:${findPort()}${path}${SECRET_URL}`,
    hold: () => {
      isHeld = true
    },
    release: () => {
      isHeld = false
      for (const response of held) response.end(image)
      held.clear()
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
