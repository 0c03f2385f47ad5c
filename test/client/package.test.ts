import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { installNpmPackages } from '../../scripts/stack/install-once.ts'
import { commandsOf, runCommands } from '../support/documented-blocks.ts'
import { type Drape, startDrape } from '../support/drape.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)
/** The oldest Node that the pages name, where npm has it: on arm64 the next one. */
const OLDEST_NODE = `node_modules/node-linux-${process.arch}/bin/node`
const CLIENT = 'The client for TypeScript and JavaScript'

describe('the source of the client', () => {
  it('imports only its own files, and Node only in node.ts', () => {
    for (const path of globSync('api/client/*.ts', { cwd: ROOT })) {
      const imported = [...readFileSync(join(ROOT, path), 'utf8').matchAll(/from '([^']+)'/g)].map(([, name]) => name)
      const foreign = imported.filter((name) => !/^\.\/[\w-]+\.ts$/.test(name))
      expect(foreign, path).toEqual(path.endsWith('/node.ts') ? ['node:fs'] : [])
    }
  })
})

/** Follows the README as a merchant's developer would: an empty project, `npm install`, the code of the README. */
describe('the packed npm package', async () => {
  let drape: Drape

  const project = await mkdtemp(join(tmpdir(), 'drape-client-'))
  const packed = runCommands(commandsOf('api/client/README.md', CLIENT), { folder: ROOT })
  const installed = installNpmPackages('oldest-node', join(import.meta.dirname, 'oldest-node'))
  const [said, started, nodes] = await Promise.all([packed, startDrape(), installed])
  drape = started
  const oldestNode = join(nodes, OLDEST_NODE)
  await drape.startWorker()
  await writeFile(join(project, 'package.json'), JSON.stringify({ name: 'shop', private: true, type: 'module' }))
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', said.trim()], { cwd: project })
  await cp(join(ROOT, 'scripts/samples/persons/down-half-teal.jpg'), join(project, 'me.jpg'))
  await cp(join(ROOT, 'scripts/samples/garments/tshirt-mustard.jpg'), join(project, 'shirt.jpg'))
  afterAll(async () => {
    await drape?.stop()
    await rm(project, { recursive: true, force: true })
  })

  /** Compiles the program to JavaScript in strict mode, and checks declarations too. */
  async function compile(name: string, text: string, options: object) {
    await writeFile(join(project, `${name}.ts`), text)
    const compilerOptions = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, ...options }
    const nodenext = { module: 'nodenext', target: 'es2024', typeRoots: [join(ROOT, 'node_modules/@types')] }
    const config = { compilerOptions: { ...nodenext, ...compilerOptions }, files: [`${name}.ts`] }
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config))
    const tsc = join(ROOT, 'node_modules/.bin/tsc')
    await run(tsc, [], { cwd: project }).catch((error) => {
      throw new Error(error.stdout)
    })
  }

  it('installs no dependencies', () => {
    expect(globSync('node_modules/*', { cwd: project })).toEqual(['node_modules/@drape'])
  })

  it.each([
    ['README.md', /"?https?:\/\/[\w.:]+\/objects\/.*expires/],
    ['docs/start/api.md', /"?https?:\/\/[\w.:]+\/objects\/.*expires/],
    ['api/client/README.md', /COMPLETED 1?[\s\S]*gen_/],
  ])('runs the example of %s, with the oldest Node that it names', async (page, expected) => {
    const text = readFileSync(join(ROOT, page), 'utf8')
    expect(text).toContain('Node 20.3 or later')
    const snippet = /^```ts\n(.*?)^```$/ms.exec(text)?.[1] ?? ''
    expect(snippet).toContain('http://localhost:8080')
    const readsAddress = snippet.includes('process.env.DRAPE_URL ??')
    const shown = readsAddress ? snippet : snippet.replace('http://localhost:8080', drape.api.url)
    await compile('shown', shown, { types: ['node'] })
    const env = { ...process.env, DRAPE_URL: drape.api.url, DRAPE_API_KEY: drape.apiKey }
    expect((await run(oldestNode, ['--version'])).stdout).toMatch(/^v20\.[35]\./)
    const { stdout, stderr } = await run(oldestNode, ['shown.js', 'me.jpg', 'shirt.jpg'], { cwd: project, env })
    expect(stderr).toBe('')
    expect(stdout).toMatch(expected)
  })

  it('has types that compile for the browser without Node types', async () => {
    const page = `
      import { createDrapeClient, type ErrorCode, type Generation, isApiError } from '@drape/client'
      const drape = createDrapeClient({ url: location.origin })
      export const texts: Partial<Record<ErrorCode, string>> = { UNEXPECTED_ANSWER: 'The proxy is down.' }
      const input = document.querySelector<HTMLInputElement>('input[type=file]')
      export async function dress(product: string): Promise<Generation | string> {
        try {
          const person = input?.files?.[0]
          return person ? await drape.tryOn({ person, product }).wait({ timeout: 60_000 }) : 'no photo'
        } catch (error) {
          if (isApiError(error, 'VALIDATION_FAILED')) return error.details.map(({ path }) => path).join()
          if (isApiError(error, 'MISSING_REQUIRED_CLASSIFICATION')) return error.details.key
          throw error
        }
      }`
    await compile('page', page, { types: [], lib: ['es2024', 'dom', 'dom.iterable'] })
    const wrong = page.replace('{ person, product }', '{ person, products: [product] }')
    await expect(compile('wrong', wrong, { types: [], lib: ['es2024', 'dom'] })).rejects.toThrow('products')
  })
})
