import { describe, expect, it } from 'vitest'
import { Type } from '../../../../api/shared/contract/schema.ts'
import { parseSentinelUrl } from '../../../../api/shared/network/service-urls.ts'
import { readConfig, SHARED_VARIABLES } from '../../../../api/shared/process/config.ts'

describe('the configuration', () => {
  const { DATABASE_URL, REDIS_URL, PROBE_PORT, FETCH_ALLOW_CIDRS } = SHARED_VARIABLES
  const schema = Type.Object({ DATABASE_URL, REDIS_URL, PROBE_PORT, FETCH_ALLOW_CIDRS })
  const good = { DATABASE_URL: 'postgresql://me@host/drape', REDIS_URL: 'redis://host' }

  it('is read from the environment, with defaults for empty values', () => {
    const cidrs = '10.1.0.0/16, fd00:1::/32'
    const config = readConfig(schema, { ...good, PROBE_PORT: '', FETCH_ALLOW_CIDRS: cidrs, HOME: '/root' })
    expect(config).toEqual({ ...good, PROBE_PORT: 9090, FETCH_ALLOW_CIDRS: cidrs })
  })

  it('reports all invalid variables at once', () => {
    const bad = { DATABASE_URL: 'nonsense', REDIS_URL: 'nonsense', PROBE_PORT: '65536', FETCH_ALLOW_CIDRS: '10.1.0.0' }
    const names = Object.keys(bad).map((name) => new RegExp(`^  ${name} `, 'm'))
    for (const name of names) expect(() => readConfig(schema, bad)).toThrow(name)
  })

  it.each([
    ['DATABASE_URL', 'postgres://h/db?SSLMODE=require', 'has the unknown parameter SSLMODE'],
    ['DATABASE_DIRECT_URL', 'postgres://h/db?ssl-mode=require', 'has the unknown parameter ssl-mode'],
    ['REDIS_URL', 'redis://host?tls=true', 'has the unknown parameter tls; it takes none'],
    ['REDIS_URL', 'redis://:p%a@host', 'Write reserved characters'],
    ['REDIS_URL', 'redis://:p/w@host', 'is not a URL'],
    ['REDIS_URL', 'redis://host/queue', 'the number of a database'],
    ['REDIS_URL', 'redis://host#tls', 'is not a URL'],
    ['REDIS_URL', 'redis://', 'must name a host'],
    ['REDIS_URL', 'redis+tls://host', 'must start with redis://'],
    ['REDIS_URL', 'redis+sentinel://a,b/0', 'must name the primary'],
    ['REDIS_URL', 'redis+sentinel://a,/0?name=shop', 'must name a host'],
    ['REDIS_URL', 'redis+sentinel://a,b:x/0?name=shop', 'is not a URL'],
    ['REDIS_URL', 'redis+sentinel://:p%a@a/0?name=shop', 'Write reserved characters'],
    ['REDIS_URL', 'redis+sentinel://me:p@a,me:p@b/0?name=shop', 'Write reserved characters'],
    [
      'REDIS_URL',
      'rediss+sentinel://a?name=shop&tls=true',
      'has the unknown parameter tls; it takes name, sentinelPassword',
    ],
    ['STORAGE_URL', 'file:', 'must be file:<folder>'],
    ['STORAGE_URL', 's3:///prefix', 'must name a bucket'],
    ['STORAGE_URL', 's3://key:secret@bucket', 'has credentials: set AWS_ACCESS_KEY_ID'],
    ['STORAGE_URL', 's3://bucket?pathStyle=yes', 'has a pathStyle other than'],
    ['STORAGE_URL', 's3://bucket?endpoint=http://a&endpoint=http://b', 'has endpoint more than once'],
    ['STORAGE_URL', 's3://bucket?endpoint=minio:9000', 'the parameter endpoint that is not'],
    ['STORAGE_URL', 's3://bucket?publicEndpoint=minio:9000', 'the parameter publicEndpoint that is not'],
    ['STORAGE_URL', 's3://bucket?pathstyle=true', 'has the unknown parameter pathstyle'],
    ['PUBLIC_URL', 'https://[', 'is not a URL'],
  ] as const)('refuses an address that its client could not use: %s %s', (name, text, reason) => {
    const read = () => readConfig(Type.Object({ [name]: SHARED_VARIABLES[name] }), { [name]: text })
    expect(read).toThrow(`  ${name} `)
    expect(read).toThrow(reason)
  })

  it('reads the hosts of Sentinels, and the login of the primary', () => {
    expect(parseSentinelUrl('rediss+sentinel://me:p%40ss@a,[::1]:7000/2?name=shop')).toEqual({
      sentinels: [
        { host: 'a', port: 26_379 },
        { host: '::1', port: 7000 },
      ],
      name: 'shop',
      login: { username: 'me', password: 'p@ss' },
      database: 2,
      sentinelPassword: undefined,
      tls: true,
    })
    expect(parseSentinelUrl('redis+sentinel://a?name=shop&sentinelPassword=a+b%20c')?.sentinelPassword).toBe('a+b c')
    expect(parseSentinelUrl('redis://host')).toBe(null)
  })

  it('reads numbers only in plain digits', () => {
    const share = Type.Object({ PROBE_PORT, SHARE: Type.Number({ default: 0 }) })
    expect(readConfig(share, { PROBE_PORT: '80', SHARE: '0.25' })).toEqual({ PROBE_PORT: 80, SHARE: 0.25 })
    for (const PROBE_PORT of ['1e3', '0x50', '80.0', ' 80', '+80']) {
      expect(() => readConfig(share, { PROBE_PORT })).toThrow(/^ {2}PROBE_PORT /m)
    }
  })
})
