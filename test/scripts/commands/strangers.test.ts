import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { createConnection } from '../../../api/client/connection.ts'
import { createVerifiedFetch } from '../../../scripts/commands/verified-fetch.ts'
import { runDrape } from '../../support/command-line.ts'
import { requestService } from '../../support/request-service.ts'

const KEY = 'sk_not_for_strangers'
const CREDITS = '/tryon/v1/account/credits'

interface Heard {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly key: string | undefined
  readonly bytes: number
}
type Answer = (request: IncomingMessage, response: ServerResponse) => void

const json = (status: number, body: object): Answer => {
  return (_, response) => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

describe('a server at DRAPE_URL that is not Drape', () => {
  const stops: (() => void)[] = []
  afterEach(() => {
    for (const stop of stops.splice(0)) stop()
  })

  /** A real program at an address of its own, and what it heard. */
  async function start(answer: Answer) {
    const heard: Heard[] = []
    const server = createServer(async (request, response) => {
      const { method, url, headers } = request
      const { length: bytes } = await buffer(request)
      heard.push({ method, url, key: headers['x-api-key'] as string | undefined, bytes })
      answer(request, response)
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    stops.push(() => server.close().closeAllConnections())
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard }
  }

  const drape = async (url: string, ...args: string[]) => {
    const { code, stderr } = await runDrape(args, { ...process.env, DRAPE_URL: url, DRAPE_API_KEY: KEY })
    return { code, stderr }
  }

  it.each([
    ['a page', (_: IncomingMessage, response: ServerResponse) => response.end('<h1>Welcome</h1>')],
    ['any body as JSON', json(200, { keys: [], code: 'OK' })],
    ['an error of another service', json(401, { code: 'UNAUTHORIZED', message: 'Sign in first.' })],
    ['the code of Drape with another status', json(200, { code: 'MISSING_API_KEY', message: '' })],
    [
      'a redirect',
      (_: IncomingMessage, response: ServerResponse) => response.writeHead(302, { location: '/login' }).end(),
    ],
    [
      'an endless body',
      (_: IncomingMessage, response: ServerResponse) => {
        const write = () => !response.destroyed && response.write('x'.repeat(65_536), write)
        write()
      },
    ],
  ])('receives neither key nor data when it answers with %s', async (_, answer) => {
    const { url, heard } = await start(answer as Answer)
    const { call } = createConnection({ url, apiKey: KEY, fetch: createVerifiedFetch(url) })
    await expect(call({ method: 'POST', path: ['try-on'], body: { photo: 'secret' } })).rejects.toMatchObject({
      code: 'UNEXPECTED_ANSWER',
      message: expect.stringContaining('Neither the key nor data was sent'),
    })
    expect(heard).toEqual([{ method: 'GET', url: CREDITS, key: undefined, bytes: 0 }])
  })

  it('receives neither key nor body when it does not respond', async () => {
    const { url, heard } = await start(() => {})
    const { call } = createConnection({ url, apiKey: KEY, fetch: createVerifiedFetch(url, { checkMs: 500 }) })
    await expect(call({ method: 'GET', path: ['account', 'credits'] })).rejects.toMatchObject({
      message: expect.stringContaining('did not identify itself as Drape within 0.5 s'),
    })
    expect(heard).toEqual([{ method: 'GET', url: CREDITS, key: undefined, bytes: 0 }])
  })

  it('is retried after a transient error, such as a 503 of a proxy', async () => {
    let count = 0
    const { url, heard } = await start((request, response) => {
      if (count++ === 0) response.writeHead(503, { 'retry-after': '0' }).end('starting')
      else if (request.headers['x-api-key'] === undefined)
        json(401, { code: 'MISSING_API_KEY', message: '' })(request, response)
      else json(200, { creditBalance: 3 })(request, response)
    })
    const { call } = createConnection({ url: `${url}/`, apiKey: KEY, fetch: createVerifiedFetch(`${url}/`) })
    expect(await call({ method: 'GET', path: ['account', 'credits'] })).toEqual({ creditBalance: 3 })
    await call({ method: 'GET', path: ['account', 'credits'] })
    expect(heard.map(({ key }) => key)).toEqual([undefined, undefined, KEY, KEY])
  })

  it('does not receive the API key by redirect, even from a verified Drape', async () => {
    const other = await start(json(200, {}))
    const { url } = await start((request, response) => {
      if (request.headers['x-api-key'] === undefined)
        json(401, { code: 'MISSING_API_KEY', message: '' })(request, response)
      else response.writeHead(307, { location: other.url }).end()
    })
    const { call } = createConnection({ url, apiKey: KEY, retries: 0, fetch: createVerifiedFetch(url) })
    await expect(call({ method: 'GET', path: ['account', 'credits'] })).rejects.toMatchObject({
      ...{
        code: 'UNEXPECTED_ANSWER',
        status: 307,
        message: expect.stringContaining(`redirected to ${other.url}/, which`),
      },
    })
    expect(other.heard).toEqual([])
  })

  it('makes each command exit with code 3 and a one-line error', async () => {
    const { url, heard } = await start((_, response) => response.end('<h1>Welcome</h1>'))
    const { path } = await requestService('folder', null)
    const catalogue = join(path, 'catalogue.csv')
    await writeFile(catalogue, 'externalId,title\nshirt-17,Shirt\n')
    const commands = [['products', 'import', catalogue], ['trigger', 'generation.completed'], ['listen']]
    for (const answer of await Promise.all(commands.map((command) => drape(url, ...command)))) {
      const last = answer.stderr.trimEnd().split('\n').at(-1)
      expect({ ...answer, stderr: last }).toEqual({
        code: 3,
        stderr: `The program at ${url}/ is not Drape (status 200). Neither the key nor data was sent. Set DRAPE_URL to the address of the service.`,
      })
    }
    expect(new Set(heard.map((one) => JSON.stringify(one))).size).toBe(1)
    expect(heard[0]).toEqual({ method: 'GET', url: CREDITS, key: undefined, bytes: 0 })
  })
})
