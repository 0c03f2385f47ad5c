import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readSecretBox, requireSecretBox } from '../../../api/secrets/read-keys.ts'
import { createSecretBox } from '../../../api/secrets/secret-box.ts'
import { clearText, readSealed } from '../../../api/shared/signing/secret-box.ts'

const place = { table: 'shops', column: 'secrets', id: 'shop_1' }

describe('a sealed secret', () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)]
  const box = createSecretBox([oldKey])

  it('opens in its place, and differs from another one of the same secret', async () => {
    for (const secret of ['hush', '', 'größer ✓', 'x'.repeat(5000)]) {
      const [one, other] = [await box.seal(secret, place), await box.seal(secret, place)]
      expect(one).toMatch(/^v1\.[0-9a-f]{16}\.[\w-]{16}\.[\w-]+$/)
      expect(await box.open(one, place)).toBe(secret)
      expect(one.split('.').slice(2)).not.toContain(other.split('.')[2])
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
    for (const i of [2, 3]) {
      await expect(box.open(parts.with(i, other[i]).join('.'), place), String(i)).rejects.toThrow(/was changed/)
    }
  })

  it('opens with every key, is encrypted with the first, and reports a missing key', async () => {
    const sealed = await box.seal('hush', place)
    const turning = createSecretBox([newKey, oldKey])
    expect(await turning.open(sealed, place)).toBe('hush')
    const rewrapped = await turning.rewrap(sealed, place)
    expect(readSealed(rewrapped ?? '')?.keyId).toBe(createSecretBox([newKey]).keyId)
    expect(await createSecretBox([newKey]).open(rewrapped ?? '', place)).toBe('hush')
    expect(await turning.rewrap(rewrapped ?? '', place)).toBeNull()
    await expect(createSecretBox([newKey]).open(sealed, place)).rejects.toThrow(`the key ${box.keyId}, which is not`)
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
    const sealed = await createSecretBox([KEY]).seal('hush', place)
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
  ])('are refused if invalid: %o', (env, message) => {
    expect(() => readSecretBox(env)).toThrow(message)
  })

  it('are required outside development', () => {
    expect(() => requireSecretBox({}, { development: false })).toThrow(/SECRETS_KEY must be set/)
    expect(requireSecretBox({}, { development: true })).toBe(clearText)
  })
})
