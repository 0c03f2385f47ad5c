import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { createApiKeys } from '../api/accounts/api-keys.store.ts'
import { UNRESTRICTED } from '../api/accounts/restrictions.ts'
import { startDrape } from './support/drape.ts'

const ROOT = resolve(import.meta.dirname, '..')
const SAMPLES = ['scripts/samples/persons/office-man.jpg', 'scripts/samples/garments/tshirt-mustard.jpg']

/** Each page with what its commands write last. */
const PAGES: readonly (readonly [string, RegExp])[] = [
  ['docs/start/api.md', /gen_\S+\n"resultImageUrl":"http\S+"\n$/],
  [
    'docs/cookbook.md',
    /COMPLETED[\s\S]*send the product in full\nRESULT_REJECTED\n"total":2\nPENDING\n204\n"imagesExpired":true\n$/,
  ],
  ['docs/deprecation.md', /^deprecation: @\d+\s*$/i],
]

describe('the commands of the docs', async () => {
  let key: string

  const drape = await startDrape()
  ;({ key } = await createApiKeys(drape.database).insert(drape.accountId, 'secret', {
    ...UNRESTRICTED,
    isTest: true,
  }))
  const folder = mkdtempSync(join(tmpdir(), 'drape-docs-'))
  for (const path of SAMPLES) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    cpSync(join(ROOT, path), join(folder, path))
  }
  afterAll(async () => {
    if (folder) rmSync(folder, { recursive: true })
    await drape?.stop()
  })

  it.each(PAGES)('succeed in order, on %s', async (page, written) => {
    const text = readFileSync(join(ROOT, page), 'utf8')
    const commands = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block)
    const env = { ...process.env, DRAPE_URL: drape.api.url, DRAPE_API_KEY: key }
    const script = `set -eu\n${commands.join('\n')}`
    const { stdout } = await promisify(execFile)('bash', ['-o', 'pipefail', '-c', script], { cwd: folder, env })
    expect(stdout).toMatch(written)
  })

  it('download the image of the quickstart', () => {
    expect(readFileSync(join(folder, 'result.jpg')).subarray(0, 3).toString('hex')).toBe('ffd8ff')
  })
})
