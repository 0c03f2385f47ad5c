import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { generateWebhookSecret } from '../../../../api/shared/signing/webhook-signature.ts'
import { createLog } from '../../../../api/shared/telemetry/log.ts'
import { readWorkerConfig } from '../../../../worker/job/config.ts'
import { hashTryOn, screen } from '../../../../worker/outputs/safety/blocked-images.ts'
import { createListClient } from '../../../../worker/outputs/safety/list-client.ts'
import { blocksOf } from '../../../support/documented-blocks.ts'
import { readSample } from '../../../support/drape.ts'
import { hashDistance } from '../../../support/hash-distance.ts'
import { isGenuine, type Mood, startWebhookReceiver } from '../../../support/webhook-receiver.ts'

const LOG = createLog({ process: 'test', level: 'silent' })
const secret = generateWebhookSecret()

describe("the operator's list of images", async () => {
  const list = await startWebhookReceiver()
  const [photo, garment] = await Promise.all([
    readSample('persons/down-half-teal.jpg'),
    readSample('garments/tshirt-mustard.jpg'),
  ])
  const images = await hashTryOn({ photo, garment, crop: { x: 0, y: 0, width: 400, height: 500 } })
  afterAll(() => list.stop())
  beforeEach(() => {
    list.received.length = 0
  })

  const behave = (mood: Mood): void => {
    list.mood = mood
  }
  const answer = (body: unknown, status = 200): void =>
    behave({ status, body: typeof body === 'string' ? body : JSON.stringify(body) })
  const ask = (level: 'standard' | 'strict', timeoutMs?: number) =>
    screen(images, {
      policy: { level, allowsSwimwear: true },
      allowances: [],
      blocked: [],
      askList: createListClient({ url: `http://127.0.0.1:${list.port}/list`, secret, timeoutMs }),
      log: LOG,
    })

  it('receives only perceptual hashes of photo and product, signed like webhooks', async () => {
    answer({ matches: [] })
    expect(await ask('strict')).toEqual([])
    const [received] = list.received
    expect(isGenuine(received, secret)).toBe(true)
    const hash = expect.stringMatching(/^[0-9a-f]{64}$/)
    expect(received.message).toEqual({
      type: 'safety.check',
      timestamp: expect.any(String),
      data: {
        images: [
          { image: 'person', hashes: [0, 1].map(() => ({ hash, mirrored: hash })) },
          { image: 'product', hashes: [{ hash, mirrored: hash }] },
        ],
      },
    })
    expect(hashDistance(images.person[0].hash, images.person[1].hash)).toBeGreaterThan(0)
  })

  it('has the documented request and response', async () => {
    const [request, reply] = blocksOf('docs/safety.md').flatMap(({ language, text }) =>
      language === 'json' ? [JSON.parse(text)] : [],
    )
    answer(reply)
    await expect(ask('strict')).rejects.toMatchObject({ code: 'IMAGE_LISTED', image: 'person' })
    expect(namesIn(list.received[0].message)).toEqual(namesIn(request))
  })

  it.each(['standard', 'strict'] as const)(
    'refuses a listed image with the reason of the list at %s',
    async (level) => {
      answer({ matches: [{ image: 'product', reason: 'PUBLIC_FIGURE' }] })
      await expect(ask(level)).rejects.toMatchObject({
        code: 'IMAGE_LISTED',
        image: 'product',
        message: 'The product image is on the list of the operator: PUBLIC_FIGURE.',
      })
    },
  )

  it.each([
    ['an error', () => answer({ matches: [] }, 500)],
    ['no list', () => answer({ matches: [] }, 204)],
    ['a redirect', () => behave({ status: 307, headers: { location: '/elsewhere' } })],
    ['no JSON', () => answer('<p>Sorry</p>')],
    ['another shape', () => answer({ matches: 'none' })],
    ['a reason with markup', () => answer({ matches: [{ image: 'person', reason: '<b>' }] })],
    ['too much', () => answer(JSON.stringify({ matches: [], rest: 'x'.repeat(70_000) }))],
    ['a closed connection', () => behave('hang up')],
    ['silence', () => behave('silent')],
  ] as const)('refuses at strict and warns at standard after %s', async (_, set) => {
    set()
    await expect(ask('strict', 500)).rejects.toMatchObject({ code: 'SAFETY_UNAVAILABLE' })
    expect(await ask('standard', 500)).toEqual(['SAFETY_CHECK_SKIPPED'])
    expect(list.received.map(({ path }) => path)).toEqual(['/list', '/list'])
  })

  it('is not queried for images without a hash', async () => {
    expect(await hashTryOn({ photo: Buffer.from('photo'), garment: Buffer.from('shirt'), crop: null })).toEqual({
      person: [],
      product: [],
      digests: [expect.stringMatching(/^[0-9a-f]{64}$/), expect.stringMatching(/^[0-9a-f]{64}$/)],
    })
  })

  it('requires a signing secret', () => {
    const env = { DATABASE_URL: 'postgres://a/b', REDIS_URL: 'redis://a', SAFETY_LIST_URL: 'https://list.example' }
    expect(() => readWorkerConfig(env)).toThrow('SAFETY_LIST_SECRET must be whsec_')
    expect(readWorkerConfig({ ...env, SAFETY_LIST_SECRET: secret }).SAFETY_LIST_SECRET).toBe(secret)
  })

  it.each([
    ['https://drape:hunter2@list.example', 'must be a URL without user and password'],
    ['https://:443/', 'is not a URL'],
  ])('is not at the URL %s', (url, problem) => {
    const env = { DATABASE_URL: 'postgres://a/b', REDIS_URL: 'redis://a', SAFETY_LIST_URL: url }
    const read = () => readWorkerConfig({ ...env, SAFETY_LIST_SECRET: secret })
    expect(read).toThrow(`SAFETY_LIST_URL ${problem}`)
    expect(read).not.toThrow('hunter2')
  })
})

/** The names of all members of a document, with the path to each. */
function namesIn(value: unknown, path = ''): Set<string> {
  if (typeof value !== 'object' || value === null) return new Set()
  const entries: [string, unknown][] = Array.isArray(value) ? value.map((one) => ['', one]) : Object.entries(value)
  return new Set(entries.flatMap(([name, one]) => [`${path}/${name}`, ...namesIn(one, `${path}/${name}`)]))
}
