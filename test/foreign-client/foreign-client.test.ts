import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { REQUIREMENTS } from '../../scripts/testing/requirements.ts'
import { type Drape, readSample, startDrape } from '../support/drape.ts'
import { reasonWithout } from '../support/missing.ts'
import { generatePythonClient, generateTypescriptClient } from './generators.ts'

const SAMPLES = resolve(import.meta.dirname, '../../scripts/samples')
const reason = await reasonWithout('python')

describe.skipIf(reason !== '')('clients that others write', { timeout: 600_000 }, () => {
  let drape: Drape
  let garments: Awaited<ReturnType<typeof startGarmentHost>>
  let env: NodeJS.ProcessEnv

  beforeAll(async () => {
    garments = await startGarmentHost()
    drape = await startDrape({
      credits: 1000,
      env: { FETCH_ALLOW_PORTS: `80,443,${new URL(garments.url).port}` },
    })
    await drape.startWorker()
    env = {
      ...process.env,
      PYTHONDONTWRITEBYTECODE: '1',
      BASE_URL: drape.api.url,
      API_KEY: drape.apiKey,
      PERSON_PHOTO: `${SAMPLES}/persons/down-half-teal.jpg`,
      GARMENT_URL: garments.url,
    }
  }, 300_000)
  afterAll(async () => {
    garments?.stop()
    await drape?.stop()
  })

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
