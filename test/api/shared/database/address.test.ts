import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Type } from '../../../../api/shared/contract/schema.ts'
import { parseDatabaseUrl, presentUrl } from '../../../../api/shared/database/address.ts'
import { createDatabase, rowType, sql } from '../../../../api/shared/database/database.ts'
import { openSession } from '../../../../api/shared/database/session.ts'
import { encryptConnections, type OwnPostgres, startOwnPostgres } from '../../../support/postgres.ts'
import { requestService } from '../../../support/request-service.ts'
import { until } from '../../../support/until.ts'

describe('the URL of a database', () => {
  const parsed = (url: string) => parseDatabaseUrl(url, {})

  it.each([
    ['postgres://u:p@/db?host=/run/pg', { host: '/run/pg', user: 'u', password: 'p', database: 'db' }],
    ['postgresql://u:p@%2Frun%2Fpg/db', { host: '/run/pg', user: 'u', password: 'p', database: 'db' }],
    ['postgres://u:a%2Fb%3A%40%23%3F%25+@[::1]:5433/db', { host: '::1', port: 5433, password: 'a/b:@#?%+' }],
    ['postgres://h/db?user=u&password=a+b&port=5433', { host: 'h', user: 'u', password: 'a+b', port: 5433 }],
    ['postgres://h/my%20db?application_name=x&options=-c%20a%3Db', { database: 'my db', options: '-c a=b' }],
    ['postgres://u@h', { host: 'h', user: 'u', ssl: false }],
    ['postgres://h/db?sslmode=disable&sslrootcert=/nowhere', { ssl: false }],
    ['postgres://h/db?sslmode=prefer', { ssl: { rejectUnauthorized: false } }],
    ['postgres://h/db?ssl=true', { ssl: { rejectUnauthorized: false } }],
    ['postgres://h/db?sslmode=verify-full', { ssl: {} }],
    ['postgres://h/db?target_session_attrs=primary', { mustWrite: false }],
  ])('%s is understood', (url, parts) => {
    const [address] = parsed(url)
    expect(address).toMatchObject(parts)
    // What slonik gets means the same.
    expect(parsed(presentUrl(address))).toEqual([{ ...address, ssl: false }])
  })

  it.each([
    ['postgres://u:p@h1:5433,[::1]/db', ['h1', 5433], ['::1', undefined]],
    ['postgres://u:p@h1,h2/db?port=5433,5434&sslmode=require', ['h1', 5433], ['h2', 5434]],
    ['postgres://u:p@/db?host=/run/a,h2&port=5433', ['/run/a', 5433], ['h2', 5433]],
  ])('%s has several hosts, which must accept writes', (url, ...hosts) => {
    const addresses = parsed(url.replace(/&sslmode.*/, ''))
    expect(addresses.map(({ host, port }) => [host, port])).toEqual(hosts)
    for (const address of addresses)
      expect(address).toMatchObject({ user: 'u', password: 'p', database: 'db', mustWrite: true })
    if (url.includes('sslmode')) for (const { ssl } of parsed(url)) expect(ssl).toEqual({ rejectUnauthorized: false })
  })

  it.each([
    ['mysql://h/db', 'must start with postgres://'],
    ['postgres://u:p#1@h/db', 'is not postgres://'],
    ['postgres://u:p@:5432/db', 'is not postgres://'],
    ['postgres://h1,h2/db?port=1,2,3', 'must have a port for each host'],
    ['postgres://h1,/db', 'an empty name in its list of hosts'],
    ['postgres://h1,h2/db?target_session_attrs=standby', 'a target_session_attrs other than read-write'],
    ['postgres://h/db#sslmode=require', 'is not postgres://'],
    ['postgres://h/db?sslmode=require&sslmode=disable', 'has sslmode more than once'],
    ['postgres://h/db?port=x', 'must have a number as port'],
    ['postgres://h/db?SSLMODE=require', 'the unknown parameter SSLMODE'],
    ['postgres://h/db?ssl-mode=require', 'the unknown parameter ssl-mode'],
    ['postgres://h/db?sslmode=verify', 'has an unknown sslmode'],
    ['postgres://h/db?sslmode=', 'has an unknown sslmode'],
    ['postgres://h/db?ssl=false', 'use sslmode'],
    ['postgres://h/db?sslmode=verify-ca', 'needs sslrootcert'],
    ['postgres://h/db?sslcert=/tmp/a', 'needs sslcert and sslkey together'],
    ['postgres://h/db?sslrootcert=/nowhere/ca.pem', 'sslrootcert=/nowhere/ca.pem, a file that cannot be read'],
    ['postgres://u:p@/db?host=/run/pg&sslmode=require', 'must have no ssl parameter for a Unix socket'],
    ['postgres://u:1?secret@h/db', 'has an unknown parameter;'],
  ])('%s is refused in one line', (url, reason) => {
    expect(() => parsed(url)).toThrow(reason)
    expect(() => parsed(url)).not.toThrow(/\n|secret/)
  })

  it('takes TLS from the variables of libpq', () => {
    expect(parseDatabaseUrl('postgres://h/db', { PGSSLMODE: 'require' })[0].ssl).toEqual({ rejectUnauthorized: false })
    expect(parseDatabaseUrl('postgres://h/db?sslmode=disable', { PGSSLMODE: 'require' })[0].ssl).toBe(false)
  })
})

describe('both drivers', () => {
  let postgres: OwnPostgres
  let folder: string
  let sockets: string

  beforeAll(async () => {
    folder = (await requestService('folder', null)).path
    sockets = join(folder, 'postgres')
    postgres = await startOwnPostgres({ folder, settings: [`unix_socket_directories=${sockets}`] })
    await encryptConnections(postgres.url, folder)
    const hba = join(folder, 'postgres', 'pg_hba.conf')
    const rules = 'hostssl template1 all 127.0.0.1/32 scram-sha-256 clientcert=verify-ca\n'
    await writeFile(hba, `${rules}${await readFile(hba, 'utf8')}`)
    const { client: owner } = await openSession(postgres.url)
    await owner.query(`create role odd login password 'a/b:@#?% +'`)
    await owner.query('select pg_reload_conf()')
    await owner.end()
    await until(() => connect('sslmode=require').then((seen) => seen === true))
  })
  afterAll(() => postgres?.crash())

  /** Whether the connections of slonik and of pg are encrypted, or the reason why there are none. */
  const connect = async (query: string, change: { host?: string; database?: string } = {}) => {
    const url = new URL(postgres.url)
    if (change.host) url.hostname = change.host
    if (change.database) url.pathname = change.database
    url.search = query.replaceAll('$', `${folder}/`)
    return connectTo(url.href)
  }
  const connectTo = async (url: string) => {
    const statement = 'select ssl from pg_stat_ssl where pid = pg_backend_pid()'
    const database = createDatabase(url, { poolSize: 1 })
    const Row = rowType(Type.Object({ ssl: Type.Boolean() }))
    const slonik = await database.one({ ...sql.type(Row)``, sql: statement }).then(
      ({ ssl }) => ssl,
      (error) => String(error.cause?.message),
    )
    await database.end()
    const pg = await openSession(url).then(
      async ({ client }) => {
        const { rows } = await client.query(statement)
        await client.end()
        return rows[0].ssl
      },
      (error) => String(error.message),
    )
    // A pool can lose its connection in several ways.
    expect(typeof pg).toBe(typeof slonik)
    if (typeof pg === 'boolean') expect(pg).toBe(slonik)
    return pg
  }

  it.each([
    ['', false],
    ['sslmode=disable', false],
    ['sslmode=prefer', true],
    ['sslmode=require', true],
    ['ssl=true', true],
    ['sslmode=require&sslrootcert=$ca.pem', true],
    ['sslmode=verify-ca&sslrootcert=$ca.pem', true],
    ['sslmode=verify-full&sslrootcert=$ca.pem', true],
    ['sslrootcert=$ca.pem', true],
    ['sslmode=verify-full', /certificate/],
    ['sslmode=require&sslrootcert=$other.pem', /certificate/],
    ['sslmode=verify-ca&sslrootcert=$other.pem', /certificate/],
    ['sslrootcert=$other.pem', /certificate/],
  ])('%s: encrypted %s', async (query, expected) => {
    const seen = await connect(query)
    if (expected instanceof RegExp) expect(seen).toMatch(expected)
    else expect(seen).toBe(expected)
  })

  it('compare the name in the certificate only for verify-full', async () => {
    expect(await connect('sslmode=verify-ca&sslrootcert=$ca.pem', { host: 'localhost' })).toBe(true)
    expect(await connect('sslmode=verify-full&sslrootcert=$ca.pem', { host: 'localhost' })).toMatch(/does not match/)
  })

  it('send a certificate', async () => {
    const database = 'template1'
    const certificate = 'sslcert=$client.pem&sslkey=$client.key'
    expect(await connect('sslmode=require', { database })).toMatch(/client certificate/)
    expect(await connect(`sslmode=require&${certificate}`, { database })).toBe(true)
    expect(await connect(`sslrootcert=$ca.pem&${certificate}`, { database })).toBe(true)
  })

  it('connect through a Unix socket, and with reserved characters in the password', async () => {
    const { username, password, pathname, port, host } = new URL(postgres.url)
    const login = `${username}:${password}`
    expect(await connectTo(`postgres://${login}@${pathname}?host=${sockets}&port=${port}`)).toBe(false)
    expect(await connectTo(`postgres://${login}@${encodeURIComponent(sockets)}:${port}${pathname}`)).toBe(false)
    const odd = encodeURIComponent('a/b:@#?% +')
    expect(await connectTo(`postgres://odd:${odd}@${host}${pathname}`)).toBe(false)
    expect(await connectTo(`postgres://odd:wrong@${host}${pathname}`)).toMatch(/password/)
  })
})
