import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import Router from '@koa/router'
import Koa from 'koa'
import { v7 as uuidv7 } from 'uuid'
import { acceptGeneration } from '../../api/generations/acceptance.store.ts'
import { createDatabase } from '../../api/shared/database/database.ts'
import { createGenerations } from '../../api/shared/generations/generations.store.ts'
import { measureBareInsert } from './bare-events.ts'

/** The baseline programs for the API: a handler, one statement, a response, and nothing else. */
const { DATABASE_URL = '', PORT, PROBE_PORT } = process.env
const database = createDatabase(DATABASE_URL, { poolSize: 10 })
const generations = createGenerations(database)
const app = new Koa()
const sayHello = new Router()
  .get('/hello', (ctx) => {
    ctx.body = { hello: true }
  })
  .routes()

app.use(async (ctx) => {
  if (ctx.path === '/hello') await sayHello(ctx as never, async () => {})
  else if (ctx.path === '/bare-events')
    ctx.body = String(await measureBareInsert(DATABASE_URL, Number(ctx.query.seconds)))
  else if (ctx.method === 'POST') await accept(ctx)
  else await find(ctx)
})

async function find(ctx: Koa.Context): Promise<void> {
  ctx.body = await generations.find(ctx.path.split('/').at(-1) ?? '')
}

interface Call {
  readonly accountId: string
  readonly imageId: string
  readonly externalId: string
}

async function accept(ctx: Koa.Context): Promise<void> {
  const { accountId, imageId, externalId } = (await json(ctx.req)) as Call
  const generationId = `gen_${uuidv7()}`
  await acceptGeneration(database, {
    generationId,
    accountId,
    externalUserId: null,
    imageId,
    product: { id: uuidv7(), externalId, anonymous: false },
    engine: 'warp',
    garmentTypes: ['flat_lay', 'ghost_mannequin'],
    cost: 1,
    options: { watermark: true, seed: 42, mode: 'balanced', format: 'jpeg', fullResolution: false },
    deadlineSeconds: 300,
    keepForDays: null,
  })
  ctx.status = 201
  ctx.body = { generationId, status: 'PENDING', productExternalId: externalId }
}

app.listen(Number(PORT))
createServer((_, response) => response.end('ready')).listen(Number(PROBE_PORT))
process.on('SIGTERM', () => process.exit(0))
