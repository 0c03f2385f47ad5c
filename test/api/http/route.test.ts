import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { createApp } from '../../../api/http/app.ts'
import { parseJsonBody } from '../../../api/http/middleware/body.ts'
import { mount } from '../../../api/http/mount.ts'
import { route } from '../../../api/http/route.ts'
import type { AppContext } from '../../../api/http/state.ts'
import { Type } from '../../../api/shared/contract/schema.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { createMetrics } from '../../../api/shared/telemetry/metrics.ts'

const Shelf = Type.Object({ shelf: Type.Integer() })
const Name = Type.Object({ name: Type.String() })
const Page = Type.Object({ limit: Type.Integer({ minimum: 1, default: 10 }), cursor: Type.Optional(Type.String()) })
const described = { tag: 'Shelves', summary: 'A shelf', access: 'open', errors: [] } as const
const parsed = () => [parseJsonBody()]
const open = () => []

const routes = [
  route({
    ...described,
    method: 'get',
    path: '/shelves/{name}',
    id: 'getShelf',
    parameters: { name: 'Its name.' },
    query: Page,
    answers: { 200: { description: 'Found.', schema: Type.Unsafe<unknown>({}) } },
    guards: open,
    handler: async ({ state }, { room }: { readonly room: string }, { params, query }) => {
      return { ...params, ...query, room, id: state.route.id }
    },
  }),
  route({
    ...described,
    method: 'post',
    path: '/shelves',
    id: 'addShelf',
    body: { json: Name },
    answers: { 201: { description: 'Added.', schema: Shelf } },
    guards: parsed,
    handler: async (_, __, { body }) => ({ shelf: body.name.length }),
  }),
  route({
    ...described,
    method: 'put',
    path: '/shelves',
    id: 'setShelf',
    body: { json: Name, mayBeEmpty: true },
    answers: { 200: { description: 'Known.', schema: Shelf }, 201: { description: 'Added.', schema: Shelf } },
    guards: parsed,
    handler: async (ctx, _, { body }) => {
      ctx.status = body.name === 'new' ? 201 : 200
      return { shelf: 1 }
    },
  }),
  route({
    ...described,
    method: 'delete',
    path: '/shelves',
    id: 'clearShelves',
    body: { json: Name },
    ownCheck: 'body',
    answers: { 204: { description: 'Cleared.' } },
    guards: parsed,
    handler: async (ctx) => ctx.set('X-Cleared', 'yes'),
  }),
  route({
    ...described,
    method: 'post',
    path: '/labels',
    id: 'readLabel',
    body: { json: Name },
    ownCheck: 'body',
    answers: { 200: { description: 'Read.', schema: Type.Unsafe<unknown>({}) } },
    guards: parsed,
    handler: async (_, __, { body }) => ({ body }),
  }),
]

describe('a declared route', async () => {
  const log = createLog({ process: 'test', level: 'silent' })
  const app = createApp({ log, metrics: createMetrics('test'), routes: [mount(routes, { room: 'attic' })] })
  const server = app.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  afterAll(() => server.close())

  async function ask(method: string, path: string, body?: unknown) {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(url, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) })
    const text = await answer.text()
    return { status: answer.status, headers: answer.headers, body: text === '' ? null : JSON.parse(text) }
  }

  it('passes the parsed request, its dependencies and itself to its handler', async () => {
    const { status, body } = await ask('GET', '/shelves/books?limit=3&other=1')
    expect(status).toBe(200)
    expect(body).toEqual({ name: 'books', limit: 3, other: '1', room: 'attic', id: 'getShelf' })
    expect((await ask('GET', '/shelves/books')).body.limit).toBe(10)
  })

  it('refuses requests that its schemas reject', async () => {
    const codeOf = async (...request: Parameters<typeof ask>) => {
      const { status, body } = await ask(...request)
      return [status, body.code, body.details?.[0].path]
    }
    expect(await codeOf('GET', '/shelves/books?limit=0')).toEqual([400, 'VALIDATION_FAILED', 'limit'])
    expect(await codeOf('GET', '/shelves/books?limit=few')).toEqual([400, 'VALIDATION_FAILED', 'limit'])
    expect(await codeOf('POST', '/shelves', { name: 1 })).toEqual([400, 'VALIDATION_FAILED', 'name'])
    expect(await codeOf('POST', '/shelves')).toEqual([400, 'VALIDATION_FAILED', ''])
    expect(await codeOf('PUT', '/shelves')).toEqual([400, 'VALIDATION_FAILED', 'name'])
  })

  it('responds with its declared status, or with one of several that its handler chooses', async () => {
    expect(await ask('POST', '/shelves', { name: 'ab' })).toMatchObject({ status: 201, body: { shelf: 2 } })
    expect((await ask('PUT', '/shelves', { name: 'old' })).status).toBe(200)
    expect((await ask('PUT', '/shelves', { name: 'new' })).status).toBe(201)
    const { status, headers } = await ask('DELETE', '/shelves')
    expect([status, headers.get('x-cleared')]).toEqual([204, 'yes'])
  })

  it('passes an unchecked body to a handler that checks it itself', async () => {
    expect((await ask('POST', '/labels', { nothing: 'of it' })).body).toEqual({ body: { nothing: 'of it' } })
  })

  it('responds only to its methods and HEAD, and names them in Allow otherwise', async () => {
    expect((await ask('HEAD', '/shelves/books')).status).toBe(200)
    for (const method of ['PATCH', 'OPTIONS']) {
      const { status, headers } = await ask(method, '/shelves')
      expect([status, headers.get('allow')]).toEqual([405, 'POST, PUT, DELETE'])
    }
    expect((await ask('GET', '/Shelves/books')).status).toBe(404)
    expect((await ask('GET', '/shelves')).status).toBe(405)
  })

  it('is type-checked against its schemas and its path', () => {
    const declaration = { ...described, method: 'post', path: '/boxes/{id}', id: 'box', guards: open } as const
    const answers = { 200: { description: 'A box.', schema: Shelf } }
    const shelf = async () => ({ shelf: 1 })
    const parameters = { id: 'Of the box.' }
    // @ts-expect-error The parameter of the path is not described.
    route({ ...declaration, answers, handler: shelf })
    // @ts-expect-error The path has no such parameter.
    route({ ...declaration, answers, parameters: { ...parameters, other: '' }, path: '/boxes', handler: shelf })
    // @ts-expect-error The answer is not that of the schema.
    route({ ...declaration, answers, parameters, handler: async () => ({ shelf: 'top' }) })
    const unsent = async (_: AppContext, __: unknown, { body }: { body: { size: number } }) => ({ shelf: body.size })
    // @ts-expect-error The body has no such field.
    route({ ...declaration, answers, parameters, body: { json: Name }, handler: unsent })
    // @ts-expect-error The routes need a room.
    mount(routes, {})
  })
})
