import { readFileSync } from 'node:fs'
import { copyFile, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client, type ProgressCallback } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { readImageHeader } from '../../../api/shared/image/image-format.ts'
import { formOf, readSample, startDrape } from '../../support/drape.ts'
import { spawnProcess } from '../../support/process.ts'

const ROOT = resolve(import.meta.dirname, '../../..')
const PERSON = resolve(ROOT, 'scripts/samples/persons/down-half-teal.jpg')
const SHIRT = resolve(ROOT, 'scripts/samples/garments/tshirt-mustard.jpg')
const MOCK = { engine: 'mock' }

/** The command of the cookbook for assistants. */
const SHOWN = JSON.parse(
  /^```json\n(\{ "mcpServers".*?)^```$/ms.exec(readFileSync(resolve(ROOT, 'docs/cookbook.md'), 'utf8'))?.[1] ?? '',
) as {
  mcpServers: { drape: { command: string; args: string[]; env: Record<string, string> } }
}

/** As an assistant meets it: the official client starts the command and speaks with it. */
describe('drape mcp', async () => {
  const clients: Client[] = []

  const drape = await startDrape({ credits: 2 })
  const client = await connect(drape.apiKey, { shown: true })
  afterAll(async () => {
    await Promise.all(clients.map((one) => one.close()))
    await drape?.stop()
  })

  /** `shown`: by the command of the cookbook, whose npm takes longer to start than the server. */
  async function connect(apiKey: string, { url = drape.api.url, roots = '', shown = false } = {}): Promise<Client> {
    const { command, args } = shown
      ? SHOWN.mcpServers.drape
      : { command: process.execPath, args: [resolve(ROOT, 'scripts/drape.ts'), 'mcp'] }
    const env = { PATH: process.env.PATH ?? '', DRAPE_URL: url, DRAPE_API_KEY: apiKey }
    expect(Object.keys(SHOWN.mcpServers.drape.env)).toEqual(['DRAPE_URL', 'DRAPE_API_KEY'])
    const capabilities = roots === '' ? {} : { roots: {} }
    const started = new Client({ name: 'test', version: '1.0.0' }, { capabilities })
    if (roots !== '') started.setRequestHandler('roots/list', () => ({ roots: [{ uri: pathToFileURL(roots).href }] }))
    clients.push(started)
    const placed = args.map((arg) => arg.replace('/path/to/drape', ROOT))
    await started.connect(new StdioClientTransport({ command, args: placed, env, stderr: 'inherit' }))
    return started
  }

  /** What a tool says: whether it failed, its JSON, and the images. */
  async function call(
    name: string,
    input: object = {},
    { by = client, onprogress }: { by?: Client; onprogress?: ProgressCallback } = {},
  ) {
    const request = { name, arguments: input as Record<string, unknown> }
    const { content, isError = false } = await by.callTool(request, { onprogress, timeout: 120_000 })
    const texts = content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
    const images = content.flatMap((block) => (block.type === 'image' ? [block] : []))
    return { isError, text: texts.join(), json: texts[0]?.startsWith('{') ? JSON.parse(texts[0]) : null, images }
  }

  it('offers five tools with input schema, output schema and instructions', async () => {
    expect(client.getInstructions()).toMatch(/^Drape shows .*try_on.*wait_for_generation/)
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'try_on',
      'try_on_outfit',
      'wait_for_generation',
      'list_products',
      'read_credits',
    ])
    for (const { inputSchema, outputSchema, description } of tools) {
      expect(inputSchema).toMatchObject({ type: 'object', properties: expect.anything() })
      expect(outputSchema).toMatchObject({ type: 'object', properties: expect.anything(), required: expect.anything() })
      expect(JSON.stringify(outputSchema)).not.toContain('$ref')
      expect(description).toMatch(/\.$/)
    }
  })

  it('runs a try-on from files for one credit, and returns progress and image', async () => {
    expect((await call('read_credits')).json).toEqual({ creditBalance: 2 })
    const { json } = await call('try_on', {
      person: { path: PERSON },
      product: { title: 'T-shirt', image: { path: SHIRT } },
    })
    const { generationId } = json
    const early = await call('wait_for_generation', { generationId, timeoutSeconds: 1 })
    expect(early).toMatchObject({ isError: false, json: { generationId, status: 'PENDING' }, images: [] })
    await drape.startWorker()
    const reported: number[] = []
    const onprogress: ProgressCallback = ({ progress }) => void reported.push(progress)
    const ended = await call('wait_for_generation', { generationId: generationId, timeoutSeconds: 100 }, { onprogress })
    expect(ended.json).toMatchObject({ generationId, status: 'COMPLETED', engine: { name: 'mock' } })
    expect(ended.images).toHaveLength(1)
    const { data, mimeType } = ended.images[0]
    expect(mimeType).toBe('image/jpeg')
    expect(readImageHeader(Buffer.from(data, 'base64')).width).toBeGreaterThan(100)
    expect(reported.at(-1)).toBe(1)
    expect((await call('read_credits')).json).toEqual({ creditBalance: 1 })
  })

  it('tries on an outfit, and says which products cannot be worn together', async () => {
    const person = { path: PERSON }
    const products = [
      { title: 'T-shirt', image: { path: SHIRT } },
      { title: 'Trousers', image: { path: SHIRT } },
    ]
    const { json } = await call('try_on_outfit', { person, products, output: MOCK })
    expect(json.layers).toMatchObject([{ layer: 'tops' }, { layer: 'bottoms' }])
    const { generationId } = json
    const ended = await call('wait_for_generation', { generationId, timeoutSeconds: 100 })
    expect(ended.json.layers).toMatchObject([{ applied: true }, { applied: true }])
    const refused = await call('try_on_outfit', { person, products: [products[0], products[0]], output: MOCK })
    expect(refused).toMatchObject({ isError: true, json: { code: 'VALIDATION_FAILED' } })
    expect(refused.json.message).toContain('products[0] (tops) and products[1] (tops)')
  })

  it('returns several results, and changes only what a mask allows', async () => {
    const mask = { image: { path: PERSON }, keep: true }
    const output = { ...MOCK, count: 2, changedMask: true, mask }
    const input = { person: { path: PERSON }, product: { image: { path: SHIRT } } }
    const { generationId } = (await call('try_on', { ...input, output })).json
    const ended = await call('wait_for_generation', { generationId, timeoutSeconds: 100 })
    const result = { imageUrl: expect.any(String), changedMaskUrl: expect.any(String) }
    expect(ended.json.results).toMatchObject([result, result])
    const refused = await call('try_on', { ...input, output: { mask: { image: { path: '/nowhere.png' } } } })
    expect(refused.text).toContain('output.mask.image.path cannot be read')
    const noImage = await call('try_on', { ...input, output: { mask: { image: { base64: 'bm8gaW1hZ2UgYXQgYWxs' } } } })
    expect(noImage.json.details).toEqual([{ path: 'output.mask.image.base64', message: noImage.json.message }])
    const products = [input.product, input.product]
    const outfit = await call('try_on_outfit', { ...input, products, output })
    expect(outfit.text).toContain('data/output must NOT have additional properties')
  })

  it('accepts base64, URLs, upload IDs and catalog products', async () => {
    const shirt = await readSample('garments/tshirt-mustard.jpg')
    const body = formOf(
      { externalId: 'shirt-17', title: 'T-shirt', images: [{ source: { fileKey: 'shirt' } }] },
      { shirt },
    )
    await drape.call('POST', '/tryon/v1/products', { body })
    const listed = await call('list_products', { limit: 5 })
    expect(listed.json).toMatchObject({ count: 1, items: [{ externalId: 'shirt-17', title: 'T-shirt' }] })
    const photo = await readSample('persons/down-half-teal.jpg')
    const upload = await drape.call('POST', '/tryon/v1/images/upload', { body: formOf(undefined, { file: photo }) })
    const image = { url: 'https://shop.example/shirt.jpg' }
    const inputs = [
      { person: { base64: photo.toString('base64') }, product: { externalId: 'shirt-17' } },
      { person: { base64: `data:image/jpeg;base64,${photo.toString('base64')}` }, product: { externalId: 'shirt-17' } },
      { person: { id: upload.body.imageId }, product: { image } },
    ]
    for (const input of inputs) {
      const { json, isError } = await call('try_on', { ...input, output: MOCK })
      expect({ isError, id: json.generationId }).toEqual({ isError: false, id: expect.stringMatching(/^gen_/) })
    }
  })

  it('returns results as resources, and resolves relative paths against client roots or the working directory', async () => {
    const rooted = await connect(drape.apiKey, { roots: resolve(ROOT, 'scripts/samples') })
    const product = { title: 'T-shirt', image: { path: 'garments/tshirt-mustard.jpg' } }
    const input = { person: { path: 'persons/down-half-teal.jpg' }, product, output: MOCK }
    const { generationId } = (await call('try_on', input, { by: rooted })).json
    const waited = { name: 'wait_for_generation', arguments: { generationId, timeoutSeconds: 100 } }
    const { content, structuredContent } = await rooted.callTool(waited, { timeout: 120_000 })
    expect(structuredContent).toMatchObject({ generationId, status: 'COMPLETED' })
    const link = content.find((block) => block.type === 'resource_link')
    const { contents } = await rooted.readResource({ uri: String(link?.uri) })
    expect(contents).toMatchObject([{ uri: link?.uri, mimeType: 'image/jpeg' }])
    expect(readImageHeader(Buffer.from((contents[0] as { blob: string }).blob, 'base64')).width).toBeGreaterThan(100)
    await expect(rooted.readResource({ uri: 'drape://generations/gen_unknown/result' })).rejects.toThrow()
    const outside = {
      person: { path: PERSON },
      product: { image: { path: 'scripts/samples/garments/tshirt-mustard.jpg' } },
    }
    expect((await call('try_on', { ...outside, output: MOCK })).json).toMatchObject({ status: 'PENDING' })
  })

  it('reports file errors, and uploads no file that is not an image', async () => {
    const product = { externalId: 'shirt-17' }
    const tried = async (person: object) => {
      const { isError, json, text } = await call('try_on', { person, product, output: MOCK })
      return isError && (json?.code ?? text)
    }
    const missing = await call('try_on', { person: { path: '/nowhere/me.jpg' }, product })
    expect(missing).toMatchObject({ isError: true, json: { code: 'VALIDATION_FAILED' } })
    expect(missing.text).toContain('person.path cannot be read: /nowhere/me.jpg (ENOENT)')
    expect(await tried({ path: ROOT })).toBe('VALIDATION_FAILED')
    expect(await tried({ path: resolve(ROOT, 'package.json') })).toBe('UNSUPPORTED_IMAGE_TYPE')
    expect(await tried({ base64: '§' })).toBe('VALIDATION_FAILED')
    expect(await tried({ base64: 'AAAA' })).toBe('INVALID_IMAGE')
    expect(await tried({ path: PERSON, url: 'https://shop.example/me.jpg' })).toContain('person')
    expect(await tried({})).toContain('person')
  })

  it('reads only regular files inside the client roots, and follows no link out of them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'drape-mcp-'))
    const [outside, root] = [join(folder, 'outside.jpg'), join(folder, 'root')]
    await mkdir(root)
    await copyFile(PERSON, outside)
    await symlink(outside, join(root, 'link.jpg'))
    const socket = createServer().listen(join(root, 'socket.jpg'))
    const rooted = await connect(drape.apiKey, { roots: root })
    const codeFor = async (path: string) => {
      const input = { person: { path }, product: { externalId: 'shirt-17' }, output: MOCK }
      return (await call('try_on', input, { by: rooted })).json.code
    }
    for (const path of [outside, '../outside.jpg', 'link.jpg']) expect(await codeFor(path), path).toBe('FORBIDDEN')
    expect(await codeFor('socket.jpg')).toBe('VALIDATION_FAILED')
    socket.close()
    await rm(folder, { recursive: true })
  })

  it('reports an invalid key, missing credits and an unreachable service', async () => {
    const wrong = await connect('sk_wrong')
    expect(await call('read_credits', {}, { by: wrong })).toMatchObject({
      isError: true,
      json: { code: 'INVALID_API_KEY', message: expect.any(String) },
    })
    const balance = await drape.balance()
    await createAccounts(drape.database).addCredits({ accountId: drape.accountId, credits: -balance, note: null })
    const input = { person: { path: PERSON }, product: { title: 'T-shirt', image: { path: SHIRT } } }
    expect(await call('try_on', input)).toMatchObject({
      isError: true,
      json: { code: 'INSUFFICIENT_CREDITS' },
    })
    const unknown = await call('wait_for_generation', { generationId: 'gen_unknown' })
    expect(unknown).toMatchObject({ isError: true, json: { code: 'GENERATION_NOT_FOUND' } })
    const lost = await connect(drape.apiKey, { url: 'http://127.0.0.1:9' })
    const failure = await call('read_credits', {}, { by: lost })
    expect(failure).toMatchObject({ isError: true, json: { code: 'DrapeConnectionError' } })
  })

  it('exits with an error without an API key', async () => {
    const { DRAPE_API_KEY: _, ...env } = process.env
    const started = await spawnProcess({ command: process.execPath, args: ['scripts/drape.ts', 'mcp'], cwd: ROOT, env })
    expect(await started.ended).toBe(2)
    expect(started.output()).toContain('DRAPE_API_KEY is not set')
  })
})
