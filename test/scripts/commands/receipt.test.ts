import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createCommandLine } from '../../support/command-line.ts'

const { keys, vectors } = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../../docs/receipt-vectors.json'), 'utf8'),
) as { keys: string[]; vectors: { name: string; receipt: string }[] }

describe('drape receipt verify', async () => {
  const server = createServer((request, response) => {
    response.end(request.url === '/receipts/keys' ? JSON.stringify({ keys: keys.map((kid) => ({ kid })) }) : '')
  })

  const folder = await mkdtemp(join(tmpdir(), 'drape-receipt-'))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const { drape } = createCommandLine('postgres://nobody@127.0.0.1:1/nothing', {
    DRAPE_URL: `http://127.0.0.1:${port}`,
  })
  for (const [i, { receipt }] of vectors.entries()) await writeFile(join(folder, `${i}.json`), receipt)
  await writeFile(join(folder, 'keys.json'), JSON.stringify({ keys: [{ kid: 'ab'.repeat(32) }] }))
  afterAll(async () => {
    server.close()
    await rm(folder, { recursive: true })
  })

  const pathOf = (name: string) => join(folder, `${vectors.findIndex((vector) => vector.name === name)}.json`)
  const verify = async (...args: string[]) => {
    const { code, output, stderr } = await drape('receipt', 'verify', ...args)
    return { code, stderr, ...(output && JSON.parse(output)) }
  }

  it('verifies a receipt with the keys of the service', async () => {
    expect(await verify(pathOf('genuine'))).toMatchObject({
      code: 0,
      stderr: '',
      status: 'valid',
      problems: [],
      keyId: keys[0],
      statement: { installation: 'https://tryon.example.com', objects: { count: 3 } },
    })
  })

  it('shows whether the receipt lists an object', async () => {
    const link = 'https://tryon.example.com/objects/persons/acc_1/img_0190a5b2.jpg?expires=1'
    expect(await verify(pathOf('genuine'), '--object', link)).toMatchObject({ code: 0, isListed: true })
    expect(await verify(pathOf('genuine'), '--object', 'persons/acc_1/x.jpg')).toMatchObject({
      code: 1,
      isListed: false,
    })
  })

  it('rejects a receipt that is changed, truncated or from another installation', async () => {
    expect(await verify(pathOf('fewer objects'))).toMatchObject({ code: 1, status: 'invalid' })
    expect(await verify(pathOf('cut off'))).toMatchObject({ code: 1, status: 'invalid' })
    expect(await verify(pathOf('another installation'))).toMatchObject({ code: 1, status: 'foreign' })
    expect(await verify(pathOf('genuine'), '--keys', join(folder, 'keys.json'))).toMatchObject({ status: 'foreign' })
  })

  it('says that a receipt is not issued yet', async () => {
    const pending = join(folder, 'pending.json')
    await writeFile(
      pending,
      JSON.stringify({ erasureId: 'era_1', status: 'PENDING', waitsFor: 'caches', receipt: null }),
    )
    expect(await verify(pending)).toMatchObject({
      code: 1,
      status: 'invalid',
      problems: [expect.stringMatching(/not issued yet/)],
    })
  })

  it('names the address that answers without keys', async () => {
    const other = createServer((_, response) => response.end('<!doctype html>'))
    await new Promise<void>((done) => other.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
    const { drape } = createCommandLine('postgres://nobody@127.0.0.1:1/nothing', { DRAPE_URL: url })
    const { code, stderr } = await drape('receipt', 'verify', pathOf('genuine'))
    other.close()
    expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining(`${url}/receipts/keys`) })
  })

  it('reports wrong arguments and an unreachable service', async () => {
    expect(await verify(join(folder, 'nothing'))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/cannot be read/),
    })
    expect(await verify(pathOf('genuine'), '--keys', pathOf('genuine'))).toMatchObject({ code: 2 })
    server.close()
    server.closeAllConnections()
    expect(await verify(pathOf('genuine'))).toMatchObject({ code: 1, stderr: expect.stringMatching(/DRAPE_URL/) })
  })
})
