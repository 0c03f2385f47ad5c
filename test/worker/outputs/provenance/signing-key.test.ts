import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { ExtendedKeyUsage } from '@peculiar/x509'
import { describe, expect, it } from 'vitest'
import { encodeImage } from '../../../../api/shared/image/image.ts'
import { verifyProvenance } from '../../../../api/shared/provenance/verify.ts'
import { createSignResult } from '../../../../worker/outputs/provenance/provenance.ts'
import { readSigningKey } from '../../../../worker/outputs/provenance/signing-key.ts'
import { createAuthority, pemOf } from '../../../support/certificates.ts'

const authority = await createAuthority()
const given = await authority.issue()
const start = async (config: { key: string; certificates: string }) => createSignResult(await readSigningKey(config))
const sign = async (config: { key: string; certificates: string }) => {
  const pixel = await encodeImage({ width: 8, height: 8, channels: 3, data: new Uint8Array(192) }, { format: 'jpeg' })
  const engine = { name: 'mock', version: '1.0.0', kind: 'test' as const }
  const signResult = await start(config)
  return (await signResult({ image: pixel, engine, weights: null, person: pixel, products: [pixel] })).image
}

describe('the key that signs results', () => {
  it('signs with the configured certificate, trusted by its authority', async () => {
    const image = await sign(given)
    const anchors = [new X509Certificate(authority.certificate)]
    const { status, signer } = await verifyProvenance(image, { anchors })
    expect([status, signer?.subject, signer?.issuer, signer?.trusted]).toEqual([
      ...['valid', 'CN=Example shop, O=Example', 'CN=Test authority, O=Example', true],
    ])
  })

  it('is not trusted by another authority of the same name', async () => {
    const other = await createAuthority()
    const report = await verifyProvenance(await sign(given), { anchors: [new X509Certificate(other.certificate)] })
    expect(report).toMatchObject({
      status: 'invalid',
      problems: ['The certificate does not lead to a trusted certificate.'],
      signer: { trusted: false },
    })
  })

  it('keeps old results valid when replaced', async () => {
    const old = await sign(given)
    await sign(await authority.issue())
    const anchors = [new X509Certificate(authority.certificate)]
    expect((await verifyProvenance(old, { anchors })).status).toBe('valid')
  })

  it('keeps its fingerprint across restarts, and gets a self-signed certificate by default', async () => {
    const config = { key: given.key, certificates: '' }
    const [first, second] = await Promise.all(
      [sign(config), sign(config)].map(async (image) => verifyProvenance(await image)),
    )
    expect(first.status).toBe('valid')
    expect(first.signer?.keyFingerprint).toMatch(/^[0-9a-f]{64}$/)
    expect(second.signer?.keyFingerprint).toBe(first.signer?.keyFingerprint)
    expect((await readSigningKey(config)).origin).toBe('own')
    expect((await readSigningKey({ key: '', certificates: '' })).origin).toBe('made')
  })

  it.each([
    ['an expired certificate', () => authority.issue({ days: [-20, -10] }), /is valid from .* to .*, not now/],
    ['a certificate of the future', () => authority.issue({ days: [2, 10] }), /is valid from .* to .*, not now/],
    [
      'the certificate of another key',
      async () => ({ ...given, key: (await authority.issue()).key }),
      /does not belong to PROVENANCE_KEY/,
    ],
    ['a certificate without organisation', () => authority.issue({ subject: 'CN=shop' }), /names no organisation/],
    [
      'a certificate for servers',
      () => authority.issue({ usages: [ExtendedKeyUsage.serverAuth] }),
      /cannot sign Content Credentials/,
    ],
    [
      'a chain that does not lead on',
      async () => ({ ...given, certificates: firstOf(given.certificates) + (await createAuthority()).certificate }),
      /was not issued by the certificate after it/,
    ],
    [
      'a broken certificate',
      async () => ({ ...given, certificates: given.certificates.replaceAll(/M[A-Z]/g, 'AA') }),
      /PROVENANCE_CERTIFICATE contains a certificate that cannot be parsed/,
    ],
    [
      'a text that is no certificate',
      async () => ({ ...given, certificates: 'certificate' }),
      /contains no PEM certificate/,
    ],
    ['a certificate without key', async () => ({ ...given, key: '' }), /PROVENANCE_CERTIFICATE requires its key/],
    [
      'a broken key',
      async () => ({ key: given.key.replace(/M[A-Z]/, '--'), certificates: '' }),
      /PROVENANCE_KEY must be an unencrypted private key in PEM/,
    ],
    [
      'a key of another kind',
      async () => ({ key: pemOf(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey), certificates: '' }),
      /must be an Ed25519 key, not ec/,
    ],
  ])('is rejected with %s', async (_, config, message) => {
    const failure = await start(await config()).catch((error: Error) => error)
    expect(String(failure)).toMatch(/^Error: The configuration is not valid:\n {2}PROVENANCE_[^\n]+$/)
    expect(String(failure)).toMatch(message)
  })
})

function firstOf(pems: string): string {
  return pems.slice(0, pems.indexOf('-----END CERTIFICATE-----') + 26)
}
