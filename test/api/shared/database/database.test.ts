import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, describe, expect, it } from 'vitest'
import { Type } from '../../../../api/shared/contract/schema.ts'
import { createDatabase, rowType, sql } from '../../../../api/shared/database/database.ts'
import { translateDatabaseError } from '../../../../api/shared/database/errors.ts'
import { createTestDatabase } from '../../../support/postgres.ts'

describe('the errors of the database', async () => {
  const { url, drop } = await createTestDatabase()
  const database = createDatabase(url, { poolSize: 2, statementSeconds: 1 })
  afterAll(async () => {
    await database.end()
    await drop()
  })

  const failure = async (statement: string) => {
    const query = sql.unsafe`select pg_temp.fail()`
    const thrown = await database
      .transaction(async (transaction) => {
        await transaction.query({
          ...query,
          sql: `create function pg_temp.fail() returns void language plpgsql as $$ begin ${statement}; end $$`,
        })
        await transaction.query(query)
      })
      .catch((error: unknown) => error)
    return translateDatabaseError(thrown)
  }

  it.each([
    ['a full disk', `raise exception using errcode = '53100'`],
    ['too many connections', `raise exception using errcode = '53300'`],
    ['a shutdown', `raise exception using errcode = '57P01'`],
    ['a start', `raise exception using errcode = '57P03'`],
    ['a database that is read only', `raise exception using errcode = '25006'`],
    ['a serialization failure', `raise exception using errcode = '40001'`],
    ['a deadlock', `raise exception using errcode = '40P01'`],
    ['a statement that takes too long', 'perform pg_sleep(10)'],
  ])('are SERVICE_UNAVAILABLE if a retry can succeed: %s', async (_, statement) => {
    expect(await failure(statement)).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true })
  })

  it('are unchanged if no retry can succeed', async () => {
    expect(await failure('perform 1 / 0')).not.toHaveProperty('retryable')
    expect(await failure(`raise exception using errcode = '23505'`)).not.toHaveProperty('retryable')
  })
})

describe('a database that has responded', async () => {
  const { url, drop } = await createTestDatabase()
  const database = createDatabase(url, { poolSize: 2, statementSeconds: 1 })
  afterAll(async () => {
    await database.end()
    await drop()
  })

  it('does not count as silent in a process that was too busy to read', async () => {
    const one = rowType(Type.Object({ one: Type.Integer() }))
    const ask = () => database.oneFirst(sql.type(one)`select 1 as one`)
    await ask()
    const asked = ask()
    // Until the statement is on its way.
    await new Promise(setImmediate)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5000)
    expect(await asked).toBe(1)
    expect(await ask()).toBe(1)
  })
})

describe('a database whose first host accepts connections and never answers', () => {
  it('connects to the next host, also when its statements may not wait that long', async () => {
    const { url, drop } = await createTestDatabase()
    const silent = createServer()
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const database = createDatabase(url.replace('127.0.0.1:', `127.0.0.1:${port},127.0.0.1:`), {
      poolSize: 1,
      statementSeconds: 1,
    })
    const ask = () => database.oneFirst(sql.type(rowType(Type.Object({ one: Type.Integer() })))`select 1 as one`)
    await expect(ask()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true })
    expect(await ask()).toBe(1)
    await database.end()
    silent.close()
    await drop()
  })
})

describe('a connection that the server terminates while it is being closed', () => {
  it('does not end the process', async () => {
    const { url, drop } = await createTestDatabase()
    const { promise: closing, resolve: hold } = Promise.withResolvers<Socket>()
    let isHeld = false
    // Passes on all messages. Once held, it keeps connections open that X, the message that ends a session, would close.
    const relay = createServer({ allowHalfOpen: true }, (client) => {
      const server = connect(Number(new URL(url).port), '127.0.0.1')
      server.on('data', (chunk) => client.write(chunk))
      server.on('end', () => client.end())
      client.on('data', (chunk) => (isHeld && chunk.toString().startsWith('X') ? hold(client) : server.write(chunk)))
      client.on('close', () => server.destroy())
    })
    relay.listen(0, '127.0.0.1')
    await once(relay, 'listening')
    const { port } = relay.address() as AddressInfo
    const database = createDatabase(Object.assign(new URL(url), { port }).href, { poolSize: 1 })
    expect(await database.oneFirst(sql.type(rowType(Type.Object({ one: Type.Integer() })))`select 1 as one`)).toBe(1)
    isHeld = true
    await database.end()
    const uncaught: unknown[] = []
    const note = (error: unknown) => uncaught.push(error)
    process.on('uncaughtExceptionMonitor', note)
    const fatal = Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0')
    const length = Buffer.alloc(4)
    length.writeInt32BE(fatal.length + 4)
    const client = await closing
    client.end(Buffer.concat([Buffer.from('E'), length, fatal]))
    await once(client, 'close')
    process.off('uncaughtExceptionMonitor', note)
    expect(uncaught).toEqual([])
    relay.close()
    await drop()
  })
})
