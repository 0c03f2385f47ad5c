import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiKeys } from '../../api/accounts/api-keys.store.ts'
import { UNRESTRICTED } from '../../api/accounts/restrictions.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { REQUIREMENTS } from '../../scripts/testing/requirements.ts'
import { type Drape, formOf, readSample, startDrape } from '../support/drape.ts'
import { reasonWithout } from '../support/missing.ts'
import { createDevelopmentShop } from '../support/shop.ts'
import { generatePythonClient, generateTypescriptClient } from './generators.ts'
import { startDevelopmentProxy } from './shop-proxy.ts'

const SAMPLES = resolve(import.meta.dirname, '../../scripts/samples')
const PYTHON = resolve(import.meta.dirname, 'python')
const PRODUCT_GID = 'gid://shop/Product/77'
const reason = await reasonWithout('python')

describe.skipIf(reason !== '')('clients that others write', { timeout: 600_000 }, () => {
  let drape: Drape
  let proxy: Awaited<ReturnType<typeof startDevelopmentProxy>>
  let garments: Awaited<ReturnType<typeof startGarmentHost>>
  let env: NodeJS.ProcessEnv

  beforeAll(async () => {
    const { port, release } = await reserveFreePort()
    await release()
    garments = await startGarmentHost()
    const ports = `80,443,${port},${new URL(garments.url).port}`
    drape = await startDrape({ credits: 1000, env: { FETCH_ALLOW_PORTS: ports } })
    await drape.startWorker()
    const shop = await createDevelopmentShop(drape)
    proxy = await startDevelopmentProxy(drape.api.url, shop.headers)
    const shirt = await readSample('garments/tshirt-mustard.jpg')
    const product = { externalId: '77', title: 'T-shirt', images: [{ source: { fileKey: 'shirt' } }] }
    await drape.call('POST', '/tryon/v1/products', { body: formOf(product, { shirt }) })
    const keys = createApiKeys(drape.database)
    const publishable = await keys.insert(drape.accountId, 'publishable', UNRESTRICTED)
    const [other, poor, slow] = await Promise.all([
      drape.createAccount(10, {}),
      drape.createAccount(0),
      drape.createAccount(10, { writesPerMinute: 3 }),
    ])
    env = {
      ...process.env,
      PYTHONDONTWRITEBYTECODE: '1',
      BASE_URL: drape.api.url,
      PROXY_BASE: proxy.url,
      IMAGE_PORT: String(port),
      API_KEY: drape.apiKey,
      OTHER_API_KEY: other.apiKey,
      POOR_API_KEY: poor.apiKey,
      SLOW_API_KEY: slow.apiKey,
      PUBLISHABLE_KEY: publishable.key,
      PERSON_PHOTO: `${SAMPLES}/persons/down-half-teal.jpg`,
      GARMENT_URL: garments.url,
      GARMENT_PHOTO: `${SAMPLES}/garments/tshirt-mustard.jpg`,
      PRODUCT_GID,
    }
  }, 300_000)
  afterAll(async () => {
    proxy?.stop()
    garments?.stop()
    await drape?.stop()
  })

  it.each(readdirSync(PYTHON).filter((file) => file.startsWith('test_')))(
    'one from the interface document alone agrees: %s',
    async (file) => {
      const python = REQUIREMENTS.python.find() ?? ''
      const { code, output } = await runProgram(python, ['-m', 'unittest', '-v', file], { cwd: PYTHON, env })
      expect(code, output).toBe(0)
    },
  )

  const documentUrl = () => `${drape.api.url}/tryon/v1/openapi.json`

  it('one that openapi-typescript generates is correct and runs', async () => {
    const { folder, complaints, remove } = await generateTypescriptClient(documentUrl())
    try {
      expect(complaints).toEqual([])
      const { code, output } = await runProgram(process.execPath, ['flow.ts'], { cwd: folder, env })
      expect(code, output).toBe(0)
    } finally {
      remove()
    }
  })

  it('one that openapi-python-client generates has every operation and runs', async () => {
    const found = REQUIREMENTS.python.find() ?? ''
    const { folder, complaints, python, remove } = await generatePythonClient(documentUrl(), found)
    try {
      // The generator knows no text bodies: it leaves them out beside the JSON of the same operation.
      const known =
        /^WARNING parsing POST \/tryon\/v1\/products\/batch .*\s+Unsupported content type (application\/x-ndjson|text\/csv)/
      expect(complaints.filter((complaint) => !known.test(complaint))).toEqual([])
      const { code, output } = await runProgram(python, ['flow.py'], { cwd: folder, env })
      expect(code, output).toBe(0)
    } finally {
      remove()
    }
  })
})

/** A host that has one image of a garment. */
async function startGarmentHost(): Promise<{ url: string; stop(): void }> {
  const image = await readSample('garments/tshirt-mustard.jpg')
  const server = createServer((_, response) => response.end(image))
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/garment.jpg`,
    stop: () => server.close(),
  }
}

async function runProgram(
  command: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<{ code: number | null; output: string }> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, output: `${out}${errors}` }
}
