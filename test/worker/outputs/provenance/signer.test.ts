import { X509Certificate } from 'node:crypto'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { encodeImage } from '../../../../api/shared/image/image.ts'
import { verifyProvenance } from '../../../../api/shared/provenance/verify.ts'
import { readKeyring } from '../../../../api/shared/signing/keyring.ts'
import { SigningUnavailable } from '../../../../worker/outputs/provenance/provenance.ts'
import { createSigner } from '../../../../worker/outputs/provenance/signer.ts'
import { createFindSigningKey, type SigningKey } from '../../../../worker/outputs/provenance/signing-key.ts'
import { createAuthority } from '../../../support/certificates.ts'
import { startTransitServer } from '../../../support/transit-server.ts'

const image = await encodeImage({ width: 8, height: 8, channels: 3, data: new Uint8Array(192) }, { format: 'jpeg' })
const engine = { name: 'mock', version: '1.0.0', kind: 'test' as const }
const made = { image, engine, weights: null, person: image, products: [image] }

describe('a signer with a key of a key service', async () => {
  const server = await startTransitServer()
  afterAll(() => server.stop())
  afterEach(() => {
    Object.assign(server, { isSealed: false, refusesToSign: false })
    vi.restoreAllMocks()
  })

  const start = (certificates = '') => {
    const keys: SigningKey[] = []
    const faults: (Error | null)[] = []
    const variables = { prefix: 'PROVENANCE', pem: '', transitKey: server.keyUrl, token: server.token, tokenFile: '' }
    const signer = createSigner({
      findKey: createFindSigningKey(readKeyring(variables), certificates),
      onKey: (key) => keys.push(key),
      onChange: (fault) => faults.push(fault),
      retryMs: [0, 0],
    })
    return { signer, keys, faults }
  }
  /** Expires everything that is cached. */
  const passTime = () => {
    const now = performance.now()
    vi.spyOn(performance, 'now').mockReturnValue(now + 11_000)
  }
  const keyOf = async (signed: Uint8Array) => (await verifyProvenance(signed)).signer?.keyFingerprint

  it('issues a certificate, and a new one after key rotation, with old results valid', async () => {
    const { signer, keys, faults } = start()
    expect(await signer.check()).toBe(true)
    const before = await signer.sign(made)
    server.rotate()
    passTime()
    const after = await signer.sign(made)
    for (const { image: signed } of [before, after])
      expect(await verifyProvenance(signed)).toMatchObject({
        status: 'valid',
        problems: [],
        signer: { subject: 'CN=Drape self-signed, O=Drape' },
      })
    const found = [await keyOf(before.image), await keyOf(after.image)]
    expect(found[0]).not.toBe(found[1])
    expect(await verifyProvenance(after.image, { anchors: [keys[1].certificates[1]] })).toMatchObject({
      status: 'valid',
      signer: { trusted: true },
    })
    expect([keys.length, faults]).toEqual([2, [null]])
  })

  it('uses the key version of a configured certificate, and rejects the certificate of another key', async () => {
    const { keys, signer } = start()
    await signer.check()
    const authority = await createAuthority()
    const certificates = await authority.certify(keys[0].certificates[0].publicKey)
    server.rotate()
    const { image: signed } = await start(certificates).signer.sign(made)
    const anchors = [new X509Certificate(authority.certificate)]
    expect(await verifyProvenance(signed, { anchors })).toMatchObject({ status: 'valid', signer: { trusted: true } })
    const foreign = start((await authority.issue()).certificates).signer
    expect(await foreign.check()).toBe(false)
    expect(foreign.fault()?.message).toMatch(/does not belong to a version of PROVENANCE_TRANSIT_KEY/)
    await expect(foreign.sign(made)).rejects.toThrow(SigningUnavailable)
  })

  it('detects before a job whether the service can sign', async () => {
    const { signer, faults } = start()
    expect(signer.fault()).not.toBeNull()
    server.isSealed = true
    expect(await signer.check()).toBe(false)
    expect(signer.fault()?.message).toBe('The key service answered 503')
    server.isSealed = false
    expect(await signer.check()).toBe(true)
    // A token whose policy allows reading the key alone.
    server.refusesToSign = true
    passTime()
    expect(await signer.check()).toBe(false)
    server.refusesToSign = false
    expect(await signer.check()).toBe(true)
    expect(faults.map((fault) => fault?.message ?? null)).toEqual([
      ...['The key service answered 503', null, 'The key service answered 403', null],
    ])
  })

  it('reports the key as unavailable when the service stops between check and signature', async () => {
    const { signer, faults } = start()
    expect(await signer.check()).toBe(true)
    server.isSealed = true
    const failure = await signer.sign(made).catch((error) => error)
    expect(failure).toBeInstanceOf(SigningUnavailable)
    expect(signer.fault()).toBe(failure)
    expect(faults).toHaveLength(2)
    // An image that cannot be signed with any key is the cause of the error.
    server.isSealed = false
    await expect(signer.sign({ ...made, image: new Uint8Array(9) })).rejects.not.toBeInstanceOf(SigningUnavailable)
  })

  it('calls the service once per result, and once per check while idle', async () => {
    const { signer } = start()
    await signer.check()
    const before = server.countCalls()
    await Promise.all([signer.check(), signer.check()])
    await signer.sign(made)
    expect(server.countCalls() - before).toBe(1)
  })
})
