import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLocalKey } from '../../../api/secrets/local-key.ts'
import { readSecretBox, requireSecretBox } from '../../../api/secrets/read-keys.ts'
import { createSecretBox } from '../../../api/secrets/secret-box.ts'
import { createTransitKey } from '../../../api/secrets/transit-key.ts'
import { clearText, readSealed } from '../../../api/shared/signing/secret-box.ts'
import { startTransitServer, type TransitServer } from '../../support/transit-server.ts'

const place = { table: 'shops', column: 'secrets', id: 'shop_1' }

describe('a sealed secret', () => {
  const [oldKey, newKey] = [createLocalKey(randomBytes(32)), createLocalKey(randomBytes(32))]
  const box = createSecretBox([oldKey])

  it('opens in its place, and differs from another one of the same secret', async () => {
    for (const secret of ['hush', '', 'größer ✓', 'x'.repeat(5000)]) {
      const [one, other] = [await box.seal(secret, place), await box.seal(secret, place)]
      expect(one).toMatch(/^v1\.local-[0-9a-f]{16}\.[\w-]+\.[\w-]{16}\.[\w-]+$/)
      expect(await box.open(one, place)).toBe(secret)
      expect(one.split('.').slice(2)).not.toContain(other.split('.')[3])
    }
  })

  it.each([
    ['another row', { id: 'shop_2' }],
    ['another column', { column: 'admin_token' }],
    ['another table', { table: 'webhook_endpoints' }],
  ])('does not open in %s', async (_, elsewhere) => {
    const sealed = await box.seal('hush', place)
    await expect(box.open(sealed, { ...place, ...elsewhere })).rejects.toThrow(/was changed or moved/)
  })

  it('does not open after any change', async () => {
    const sealed = await box.seal('hush', place)
    const parts = sealed.split('.')
    const other = (await box.seal('other', place)).split('.')
    for (const i of [2, 3, 4]) {
      await expect(box.open(parts.with(i, other[i]).join('.'), place), String(i)).rejects.toThrow(/was changed/)
    }
  })

  it('opens with every key, is encrypted with the first, and reports a missing key', async () => {
    const sealed = await box.seal('hush', place)
    const turning = createSecretBox([newKey, oldKey])
    expect(await turning.open(sealed, place)).toBe('hush')
    const rewrapped = await turning.rewrap(sealed, place)
    expect(readSealed(rewrapped ?? '')?.keyId).toBe(newKey.id)
    expect(await createSecretBox([newKey]).open(rewrapped ?? '', place)).toBe('hush')
    expect(await turning.rewrap(rewrapped ?? '', place)).toBeNull()
    await expect(createSecretBox([newKey]).open(sealed, place)).rejects.toThrow(`the key ${oldKey.id}, which is not`)
    await expect(clearText.open(sealed, place)).rejects.toThrow('Set SECRETS_KEY')
  })

  it('replaces an unencrypted secret', async () => {
    expect(await box.open('hush', place)).toBe('hush')
    const sealed = await box.rewrap('hush', place)
    expect(await box.open(sealed ?? '', place)).toBe('hush')
  })
})

describe('the keys of the environment', () => {
  const KEY = randomBytes(32)
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-keys-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('are base64, base64url or hex, in a variable or a file', async () => {
    const sealed = await createSecretBox([createLocalKey(KEY)]).seal('hush', place)
    const path = join(folder, 'keys')
    await writeFile(path, `${KEY.toString('base64')}\n${randomBytes(32).toString('hex')}\n`)
    const texts = (['base64', 'base64url', 'hex'] as const).map((encoding) => KEY.toString(encoding))
    for (const env of [...texts.map((SECRETS_KEY) => ({ SECRETS_KEY })), { SECRETS_KEY_FILE: path }]) {
      expect(await readSecretBox(env)?.open(sealed, place)).toBe('hush')
    }
  })

  it.each([
    [{ SECRETS_KEY: 'too short' }, /32 bytes/],
    [{ SECRETS_KEY: `${KEY.toString('hex')},${'x'.repeat(43)}!` }, /32 bytes/],
    [{ SECRETS_KEY_FILE: '/nowhere' }, /SECRETS_KEY_FILE cannot be read/],
    [{ SECRETS_TRANSIT_KEY: 'https://bao.example' }, /SECRETS_TRANSIT_KEY/],
    [{ SECRETS_TRANSIT_KEY: 'https://bao.example/v1/transit/keys/drape' }, /SECRETS_TRANSIT_TOKEN/],
  ])('are refused if invalid: %o', (env, message) => {
    expect(() => readSecretBox(env)).toThrow(message)
  })

  it('are required outside development', () => {
    expect(() => requireSecretBox({}, { development: false })).toThrow(/SECRETS_KEY must be set/)
    expect(requireSecretBox({}, { development: true })).toBe(clearText)
  })
})

describe('a key of a transit engine', () => {
  let server: TransitServer
  beforeAll(async () => {
    server = await startTransitServer()
  })
  afterAll(() => server.stop())
  const openBox = (token = server.token) =>
    createSecretBox([createTransitKey({ url: server.keyUrl, readToken: async () => token })])

  it('wraps data keys on the server, with one request for a frequently used secret', async () => {
    const sealed = await openBox().seal('hush', place)
    const box = openBox()
    const before = server.countCalls()
    for (let i = 0; i < 5; i++) expect(await box.open(sealed, place)).toBe('hush')
    expect(server.countCalls() - before).toBe(1)
  })

  it('opens secrets that older versions of the key wrapped', async () => {
    const sealed = await openBox().seal('hush', place)
    server.rotate()
    expect(await openBox().open(sealed, place)).toBe('hush')
    expect(await openBox().open(await openBox().seal('hush', place), place)).toBe('hush')
  })

  it('can replace a local key, and be replaced by one', async () => {
    const local = createLocalKey(randomBytes(32))
    const sealed = await createSecretBox([local]).seal('hush', place)
    const transit = createTransitKey({ url: server.keyUrl, readToken: async () => server.token })
    const moved = await createSecretBox([transit, local]).rewrap(sealed, place)
    expect(await createSecretBox([transit]).open(moved ?? '', place)).toBe('hush')
  })

  it('reports an unavailable server as a retryable error without details', async () => {
    const sealed = await openBox().seal('hush', place)
    const fault = { code: 'SERVICE_UNAVAILABLE', retryable: true, message: expect.not.stringMatching(/key/) }
    await expect(openBox('wrong token').open(sealed, place)).rejects.toMatchObject(fault)
    const box = openBox()
    await server.stop()
    await expect(box.open(sealed, place)).rejects.toMatchObject(fault)
  })
})
