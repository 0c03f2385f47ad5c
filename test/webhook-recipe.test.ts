import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyWebhook } from '../api/client/webhook.ts'
import { createMessage } from '../api/shared/signing/webhook-message.ts'
import { findMissingLanguages, LANGUAGES, type Language, runDocumented } from './support/documented-code.ts'
import { type Drape, startDrape } from './support/drape.ts'
import { until } from './support/until.ts'
import { startWebhookReceiver, type WebhookReceiver } from './support/webhook-receiver.ts'

const missingLanguages = await findMissingLanguages(LANGUAGES)

const DOCS = resolve(import.meta.dirname, '../docs')
const PAGE = readFileSync(join(DOCS, 'webhooks.md'), 'utf8')

interface Request {
  readonly secrets: readonly string[]
  readonly now: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
interface Vector extends Request {
  readonly name: string
  readonly genuine: boolean
}

const { vectors } = JSON.parse(readFileSync(join(DOCS, 'webhook-vectors.json'), 'utf8')) as { vectors: Vector[] }

/** What follows the code of the page: it reads requests as JSON from standard input, and writes the event of each, or null. */
const DRIVERS: Readonly<Record<Language, string>> = {
  ts: `
import { readFileSync } from 'node:fs'
const verify = (r: any) => {
  try { return verifyWebhook(Buffer.from(r.body), r.headers, r.secrets, r.now) } catch { return null }
}
console.log(JSON.stringify(JSON.parse(readFileSync(0, 'utf8')).map(verify)))`,
  python: `
import sys
def verify(r):
    try:
        return verify_webhook(r["body"].encode(), r["headers"], r["secrets"], r["now"])
    except ValueError:
        return None
print(json.dumps([verify(r) for r in json.load(sys.stdin.buffer)]))`,
  php: `
function verify(array $r): ?array {
    try {
        return verify_webhook($r['body'], $r['headers'], $r['secrets'], $r['now']);
    } catch (UnexpectedValueException) {
        return null;
    }
}
echo json_encode(array_map('verify', json_decode(file_get_contents('php://stdin'), true)));`,
  ruby: `
def verify(r)
  verify_webhook(r["body"], r["headers"], r["secrets"], now: r["now"])
rescue ArgumentError
  nil
end
puts JSON.generate(JSON.parse($stdin.read.force_encoding("UTF-8")).map { |r| verify(r) })`,
}

const expected = ({ genuine, body }: Vector) => (genuine ? JSON.parse(body) : null)

describe('the test vectors of docs/webhook-vectors.json', () => {
  it('match the signature of the service', () => {
    const [{ headers, body, secrets, now }] = vectors
    const content = JSON.parse(body)
    const made = createMessage({ eventId: 'evt_1', sentAt: new Date(now * 1000), content }, secrets)
    expect(made.body).toBe(body)
    expect(made.headers).toMatchObject(headers)
  })

  it.each(vectors)('get the verdict of the client: $name', async (vector) => {
    const { headers, body, secrets, now } = vector
    const verified = verifyWebhook({ headers, body }, secrets, { now: now * 1000 }).catch(() => null)
    expect(await verified).toEqual(expected(vector))
  })
})

describe('the code of docs/webhooks.md', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-webhooks-'))
  })
  afterAll(() => rm(folder, { recursive: true }))
  const run = (language: Language, input: readonly Request[]) =>
    runDocumented(PAGE, { language, driver: DRIVERS[language], folder, input })

  describe.each(LANGUAGES)('in %s', (language) => {
    it.skipIf(missingLanguages[language] !== '')('accepts only genuine webhooks', async () => {
      const verdicts = (await run(language, vectors)) as unknown[]
      const named = vectors.map((vector, i) => [vector.name, verdicts[i]])
      expect(named).toEqual(vectors.map((vector) => [vector.name, expected(vector)]))
    })
  })

  describe('with the recipe of the page', () => {
    let drape: Drape
    let receiver: WebhookReceiver
    beforeAll(async () => {
      receiver = await startWebhookReceiver()
      drape = await startDrape()
    })
    afterAll(async () => {
      await drape.stop()
      await receiver.stop()
    })

    /** The commands of the page, by their second word. */
    const commands = new Map(
      [...PAGE.matchAll(/^npm run --silent drape -- (listen|trigger|events)( [^#\n]*?)\s*(?:#.*)?$/gm)].map(
        ([, name, rest]) => [name, [name, ...rest.trim().split(' ')]],
      ),
    )
    const start = (args: readonly string[]) => {
      const env = { ...process.env, DRAPE_URL: drape.api.url, DRAPE_API_KEY: drape.apiKey }
      return spawn(process.execPath, ['scripts/drape.ts', ...args], { env })
    }
    const runOnce = async (args: readonly string[]) => {
      const [code] = await once(start(args), 'close')
      expect(code).toBe(0)
    }

    it('verifies, in every language, what a listener posts to the local port', async () => {
      const { listen = [], trigger = [], events = [] } = Object.fromEntries(commands)
      const listener = start(listen.map((word) => word.replace('3000', String(receiver.port))))
      let output = ''
      listener.stdout.on('data', (chunk) => {
        output += chunk
      })
      await until(() => output.includes('Signing secret: '))
      const secret = /Signing secret: (\S+)/.exec(output)?.[1] ?? ''
      await runOnce(trigger)
      await until(() => receiver.received.length === 1)
      const [{ id, path }] = receiver.received
      await runOnce(events.map((word) => (word === 'evt_…' ? id : word)))
      await until(() => receiver.received.length === 2)
      listener.kill('SIGINT')
      await once(listener, 'close')
      expect(path).toBe('/hook')

      const now = Math.floor(Date.now() / 1000)
      const requests = receiver.received.map(({ headers, body }) => ({
        body,
        now,
        secrets: [secret],
        headers: headers as Record<string, string>,
      }))
      const languages = LANGUAGES.filter((language) => missingLanguages[language] === '')
      for (const language of languages) {
        const [event, again] = (await run(language, requests)) as object[]
        expect(event).toMatchObject({ type: 'generation.completed', data: { accountId: drape.accountId, test: true } })
        expect(again).toEqual(event)
      }
    })
  })
})
