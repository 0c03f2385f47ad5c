import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { startDrape } from '../../support/drape.ts'
import { requestService } from '../../support/request-service.ts'

describe('drape products import', async () => {
  let batches = 0
  /** Batches that get no answer. */
  let hangsFrom = Number.POSITIVE_INFINITY
  let hung = Promise.withResolvers<void>()

  const drape = await startDrape()
  const folder = (await requestService('folder', null)).path
  const line = createServer((asked, answer) => {
    if (asked.method === 'POST' && ++batches >= hangsFrom) return hung.resolve()
    const { method, headers } = asked
    const sent = request(`${drape.api.url}${asked.url}`, { method, headers }, (received) => {
      answer.writeHead(received.statusCode ?? 502, received.headers)
      received.pipe(answer)
    })
    asked.pipe(sent)
  })
  await new Promise<void>((resolve) => line.listen(0, '127.0.0.1', resolve))
  afterAll(async () => {
    await drape?.stop()
    line.closeAllConnections()
    line.close()
  })

  const start = (args: string[], { key = drape.apiKey, input = '' } = {}) => {
    const env: NodeJS.ProcessEnv = { ...process.env }
    env.DRAPE_URL = `http://127.0.0.1:${(line.address() as AddressInfo).port}`
    if (key !== '') env.DRAPE_API_KEY = key
    const child = spawn(process.execPath, ['scripts/drape.ts', 'products', 'import', ...args, '--json'], { env })
    child.stdin.end(input)
    return child
  }
  const run = async (args: string[], options = {}) => {
    const child = start(args, options)
    const [output, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    return { output, stderr, code }
  }

  it('resumes after a kill, reports failures, and repeats no request', async () => {
    const path = join(folder, 'catalogue.csv')
    const row = (i: number) => (i % 250 === 0 ? `p-${i},Shirt,https://shop.example/${i}.jpg,` : `_anon_${i},,,`)
    const rows = Array.from({ length: 1001 }, (_, i) => row(i))
    await writeFile(path, ['externalId,title,imageUrls,metadata', ...rows, 'p-bad,,,{'].join('\n'))
    hangsFrom = 2
    const killed = start([path])
    await hung.promise
    killed.kill('SIGKILL')
    await once(killed, 'close')
    expect(JSON.parse(await readFile(`${path}.import`, 'utf8')).batchIds).toHaveLength(1)
    hangsFrom = Number.POSITIVE_INFINITY
    batches = 0
    hung = Promise.withResolvers()
    // Standard input has the key, and a line for each part where there is no terminal.
    const { output, stderr, code } = await run([path, '--key-file', '-'], { key: '', input: `${drape.apiKey}\n` })
    expect(code, stderr).toBe(1)
    expect(batches).toBe(2)
    expect(JSON.parse(output)).toMatchObject({ products: 1002, failed: 997, report: `${path}.failures.ndjson` })
    expect(stderr).toMatch(/% \d+ products, \d+ failed\n/)
    const failures = (await readFile(`${path}.failures.ndjson`, 'utf8'))
      .trim()
      .split('\n')
      .map((one) => JSON.parse(one))
    expect(failures).toHaveLength(997)
    expect(failures[0]).toMatchObject({ line: 3, externalId: '_anon_1', error: { code: 'RESERVED_EXTERNAL_ID' } })
    expect(failures.at(-1)).toMatchObject({ line: 1003, error: { code: 'VALIDATION_FAILED' } })
    expect(existsSync(`${path}.import`)).toBe(false)
    const { body } = await drape.call('GET', '/tryon/v1/products')
    expect(body.items.map(({ externalId }: { externalId: string }) => externalId).toSorted()).toEqual([
      ...['p-0', 'p-1000', 'p-250', 'p-500', 'p-750'],
    ])
  })

  it('exits with 0 when every product is stored, and accepts no key as an argument', async () => {
    const path = join(folder, 'catalogue.json')
    await writeFile(path, JSON.stringify({ products: [{ externalId: 'p-0', title: 'New' }] }))
    expect(await run([path])).toMatchObject({ code: 0, output: expect.stringContaining('"updated":1') })
    expect(await run([path, '--key', 'sk_x'])).toMatchObject({ code: 2 })
    expect(await run([path], { key: '' })).toMatchObject({ code: 2 })
    expect(await run([path], { key: 'sk_wrong' })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('not valid'),
    })
    expect(await run([join(folder, 'missing.csv')])).toMatchObject({ code: 2 })
  })
})
