import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { readSecretBox } from '../../../../api/secrets/read-keys.ts'
import { readKeyring } from '../../../../api/shared/signing/keyring.ts'
import { startTransitServer } from '../../../support/transit-server.ts'

const NONE = { prefix: 'RECEIPT', pem: '', transitKey: '', token: '', tokenFile: '' }
const MESSAGE = Buffer.from('message')
const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

describe('a keyring', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'drape-keyring-'))
  const server = await startTransitServer()
  afterAll(async () => {
    await server.stop()
    await rm(folder, { recursive: true })
  })
  afterEach(() => {
    Object.assign(server, { isSealed: false, refusesToSign: false, isForging: false })
    vi.restoreAllMocks()
  })

  const open = (changes: Partial<typeof NONE> = {}) =>
    readKeyring({ ...NONE, transitKey: server.keyUrl, token: server.token, ...changes })
  /** Expires the cached list of versions. */
  const passTime = () => {
    const now = performance.now()
    vi.spyOn(performance, 'now').mockReturnValue(now + 6000)
  }

  it('of a PEM has one version; without a PEM, each start creates another key', async () => {
    const [[version, ...others], [made]] = await Promise.all([
      readKeyring({ ...NONE, pem }).list(),
      readKeyring(NONE).list(),
    ])
    expect(others).toEqual([])
    expect(verify(null, MESSAGE, createPublicKey(pem), await version.sign(MESSAGE))).toBe(true)
    expect(made.fingerprint).not.toBe(version.fingerprint)
    expect([readKeyring({ ...NONE, pem }).origin, readKeyring(NONE).origin, open().origin]).toEqual([
      ...['pem', 'made', 'service'],
    ])
  })

  it('of a key service signs with the newest version, and detects a rotation', async () => {
    const keyring = open()
    const [first] = await keyring.list()
    const signature = await first.sign(MESSAGE)
    server.rotate()
    expect((await keyring.list()).length).toBe(1)
    passTime()
    const [second, ...older] = await keyring.list()
    expect(older.map(({ fingerprint }) => fingerprint)).toEqual([first.fingerprint])
    expect(verify(null, MESSAGE, second.publicKey, await second.sign(MESSAGE))).toBe(true)
    expect(verify(null, MESSAGE, older[0].publicKey, signature)).toBe(true)
    // The version is fixed, so that a certificate and a signature always belong to the same key.
    expect(verify(null, MESSAGE, first.publicKey, await first.sign(MESSAGE))).toBe(true)
  })

  it('reads the token file for each call, even a file written after the start', async () => {
    const tokenFile = join(folder, 'token')
    const keyring = open({ token: '', tokenFile })
    await expect(keyring.list()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    await writeFile(tokenFile, `${server.token}\n`)
    const [version] = await keyring.list()
    await writeFile(tokenFile, `${server.token}\nsecond line`)
    const failure = await version.sign(MESSAGE).catch((error) => error)
    expect(failure).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      cause: { message: expect.stringMatching(/one line/) },
    })
    expect(String(failure.cause) + failure.stack).not.toContain(server.token)
    expect(() => open({ token: '', tokenFile })).not.toThrow(server.token)
    expect(() => open({ token: '', tokenFile })).toThrow(/The token in RECEIPT_TRANSIT_TOKEN_FILE must be one line/)
  })

  it('is unavailable if the service does not respond, refuses the token or returns a wrong signature', async () => {
    const fault = { code: 'SERVICE_UNAVAILABLE', retryable: true, message: expect.not.stringMatching(/key/) }
    const keyring = open()
    const [version] = await keyring.list()
    server.isForging = true
    await expect(version.sign(MESSAGE)).rejects.toMatchObject(fault)
    server.refusesToSign = true
    await expect(version.sign(MESSAGE)).rejects.toMatchObject(fault)
    server.isSealed = true
    await expect(version.sign(MESSAGE)).rejects.toMatchObject(fault)
    await expect(open().list()).rejects.toMatchObject(fault)
    await expect(open({ token: 'another' }).list()).rejects.toMatchObject(fault)
    // A failure is not cached.
    const later = open()
    await expect(later.list()).rejects.toMatchObject(fault)
    server.isSealed = false
    expect((await later.list())[0].fingerprint).toBe(version.fingerprint)
  })

  it('refuses a key of another type', async () => {
    const other = await startTransitServer('drape', 'aes256-gcm96')
    await expect(open({ transitKey: other.keyUrl, token: other.token }).list()).rejects.toThrow(
      /must be of the type ed25519 and not derived, but is aes256-gcm96/,
    )
    await other.stop()
  })

  const SECRET = 's.3cret'
  it.each([
    ['a token of two lines', { token: `${SECRET}\n${SECRET}` }, /RECEIPT_TRANSIT_TOKEN must be one line/],
    ['a URL with a user', { transitKey: `https://u:${SECRET}@bao/v1/transit/keys/drape` }, /without user and password/],
    [
      'a URL with a query',
      { transitKey: `https://bao/v1/transit/keys/drape?x=${SECRET}` },
      /must be an address of a key/,
    ],
    ['another URL', { transitKey: `https://bao/${SECRET}` }, /RECEIPT_TRANSIT_KEY must be an address of a key/],
    ['no token', { token: '' }, /needs one of RECEIPT_TRANSIT_TOKEN and RECEIPT_TRANSIT_TOKEN_FILE/],
    ['a PEM beside it', { pem }, /RECEIPT_TRANSIT_KEY replaces RECEIPT_KEY: set one of the two/],
  ])('is refused with %s, in a message without it', (_, changes, message) => {
    const read = () => open(changes)
    expect(read).toThrow(/^The configuration is not valid:\n {2}RECEIPT_[^\n]+$/)
    expect(read).toThrow(message)
    expect(read).not.toThrow(SECRET)
  })

  it('follows the rules of encryption keys', () => {
    const env = { SECRETS_TRANSIT_KEY: `https://u:${SECRET}@bao/v1/transit/keys/drape`, SECRETS_TRANSIT_TOKEN: 'a\nb' }
    expect(() => readSecretBox(env)).toThrow(
      /SECRETS_TRANSIT_TOKEN must be one line[^\n]*\n {2}SECRETS_TRANSIT_KEY must/,
    )
    expect(() => readSecretBox(env)).not.toThrow(SECRET)
  })
})
