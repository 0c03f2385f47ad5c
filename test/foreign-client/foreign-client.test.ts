import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { run } from '../../scripts/stack/commands.ts'
import { installPythonPackages } from '../../scripts/stack/install-once.ts'
import { REQUIREMENTS } from '../../scripts/testing/requirements.ts'
import { readSample, startDrape } from '../support/drape.ts'
import { reasonWithout } from '../support/missing.ts'

const HERE = join(import.meta.dirname, 'generated-python')
const SAMPLES = resolve(import.meta.dirname, '../../scripts/samples')
const reason = await reasonWithout('python')

describe.skipIf(reason !== '')('a client that others generate', { timeout: 600_000 }, () => {
  it('by openapi-python-client has every operation and runs', async () => {
    const image = await readSample('garments/tshirt-mustard.jpg')
    const garments = createServer((_, response) => response.end(image))
    await new Promise<void>((ready) => garments.listen(0, '127.0.0.1', ready))
    const { port } = garments.address() as AddressInfo
    const drape = await startDrape({ credits: 1000, env: { FETCH_ALLOW_PORTS: `80,443,${port}` } })
    const packages = join(HERE, 'requirements.txt')
    const python = REQUIREMENTS.python.find() ?? ''
    const environment = await installPythonPackages('foreign-client/python', packages, python)
    // Within the folder of the packages, so that the program finds them.
    const folder = mkdtempSync(join(environment, 'flow-'))
    try {
      await drape.startWorker()
      for (const name of ['flow.py', 'config.yaml']) cpSync(join(HERE, name), join(folder, name))
      const document = await fetch(`${drape.api.url}/tryon/v1/openapi.json`)
      writeFileSync(join(folder, 'openapi.json'), await document.text())
      const output = await run(join(environment, 'bin/openapi-python-client'), [
        ...['generate', '--path', join(folder, 'openapi.json'), '--config', join(folder, 'config.yaml')],
        ...['--meta', 'none', '--output-path', join(folder, 'drape_client')],
      ])
      const complaints = output.split(/^(?=WARNING|ERROR)/m).filter((part) => /^(WARNING|ERROR)/.test(part))
      // The generator knows no text bodies: it leaves them out beside the JSON of the same operation.
      const known =
        /^WARNING parsing POST \/tryon\/v1\/products\/batch .*\s+Unsupported content type (application\/x-ndjson|text\/csv)/
      expect(complaints.filter((complaint) => !known.test(complaint))).toEqual([])
      const env = {
        ...process.env,
        PYTHONDONTWRITEBYTECODE: '1',
        BASE_URL: drape.api.url,
        API_KEY: drape.apiKey,
        PERSON_PHOTO: `${SAMPLES}/persons/down-half-teal.jpg`,
        GARMENT_URL: `http://127.0.0.1:${port}/garment.jpg`,
      }
      // Fails with the output of the program.
      await run(join(environment, 'bin/python'), ['flow.py'], { cwd: folder, env })
    } finally {
      rmSync(folder, { recursive: true, force: true })
      garments.close()
      await drape.stop()
    }
  })
})
