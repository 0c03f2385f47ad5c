import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ROUTES } from '../../../../api/http/core-routes.ts'
import { createDocument } from '../../../../api/http/openapi/document.ts'
import { run } from '../../../../scripts/stack/commands.ts'
import { installNpmPackages } from '../../../../scripts/stack/install-once.ts'

const LINTERS = join(import.meta.dirname, 'linters')

describe('the linters of OpenAPI documents', async () => {
  const document = createDocument(ROUTES, { publicUrl: 'https://try.example', serviceName: 'Drape' })

  const folder = mkdtempSync(join(await installNpmPackages('openapi-linters', LINTERS), 'run-'))
  cpSync(join(LINTERS, 'lint.js'), join(folder, 'lint.js'))
  afterAll(() => folder && rmSync(folder, { recursive: true, force: true }))

  async function lint(content: object): Promise<string[]> {
    const path = join(folder, 'openapi.json')
    writeFileSync(path, JSON.stringify(content))
    return (await run(process.execPath, [join(folder, 'lint.js'), path])).split('\n').filter((line) => line !== '')
  }

  it('find no error and no warning in the document', async () => {
    expect(await lint(document)).toEqual([])
  })

  it('find an invalid example and an operation without a description', async () => {
    const post = { ...document.paths['/tryon/v1/try-on'].post, description: undefined, responses: { 201: WRONG } }
    const found = await lint({ ...document, paths: { '/tryon/v1/try-on': { post } } })
    const rules = new Set(found.map((problem) => problem.slice(0, problem.indexOf(':'))))
    expect([...rules]).toEqual(
      expect.arrayContaining([
        'redocly no-invalid-media-type-examples',
        'spectral oas3-valid-media-example',
        'spectral operation-description',
      ]),
    )
  })
})

const WRONG = { description: 'Wrong.', content: { 'application/json': { schema: { type: 'string' }, example: 3 } } }
