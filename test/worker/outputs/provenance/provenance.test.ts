import { sign } from 'node:crypto'
import { X509Certificate } from '@peculiar/x509'
import { CoseAlgorithmIdentifier, type Signer } from '@trustnxt/c2pa-ts/cose'
import { ClaimVersion, DataHashAssertion, ManifestStore } from '@trustnxt/c2pa-ts/manifest'
import type { Browser } from 'puppeteer-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeImage } from '../../../../api/shared/image/image.ts'
import { pngChunk } from '../../../../api/shared/image/png-xmp.ts'
import { VERSION } from '../../../../api/shared/process/version.ts'
import { openAsset } from '../../../../api/shared/provenance/asset.ts'
import { nameIngredient } from '../../../../api/shared/provenance/ingredient.ts'
import { verifyProvenance } from '../../../../api/shared/provenance/verify.ts'
import { createSignResult, type Signed } from '../../../../worker/outputs/provenance/provenance.ts'
import { readSigningKey } from '../../../../worker/outputs/provenance/signing-key.ts'
import { browserReason, startBrowser } from '../../../support/browser.ts'
import { openJudge } from '../../../support/content-credentials.ts'

const SIZE = 64
const bitmap = {
  width: SIZE,
  height: SIZE,
  channels: 3 as const,
  data: Uint8Array.from({ length: SIZE * SIZE * 3 }, (_, i) => (i * 37) % 251),
}
const XMP = '<x:xmpmeta xmlns:x="adobe:ns:meta/"/>'
const [PERSON, PRODUCT] = [Buffer.from('photo'), Buffer.from('garment')]
const FORMATS = ['jpeg', 'png', 'webp'] as const
const WEIGHTS = 'ab'.repeat(32)

const key = await readSigningKey({ key: '', certificates: '' })
const signResult = await createSignResult(key)
const root = key.certificates[1].toString()
const signedAs = async (format: (typeof FORMATS)[number]): Promise<Signed & { unsigned: Uint8Array }> => {
  const unsigned = await encodeImage(bitmap, { format, xmp: XMP })
  const engine = { name: 'warp', version: '2.1.0', kind: 'preview' as const }
  return {
    unsigned,
    ...(await signResult({ image: unsigned, engine, weights: WEIGHTS, person: PERSON, products: [PRODUCT] })),
  }
}
const flipped = (bytes: Uint8Array, at: number) => bytes.map((byte, i) => (i === at ? byte ^ 1 : byte))

describe.each(FORMATS)('Content Credentials of a %s', (format) => {
  it('state signer and origin, and nothing about the person', async () => {
    const { image, ingredientSalt } = await signedAs(format)
    const report = await verifyProvenance(image, { anchors: key.certificates })
    expect(report).toMatchObject({
      status: 'valid',
      problems: [],
      signer: { subject: 'CN=Drape self-signed, O=Drape', trusted: true },
    })
    expect(report.statement).toEqual({
      generator: `Drape ${VERSION}`,
      engine: 'warp 2.1.0',
      weights: WEIGHTS,
      sourceType: 'composite',
      day: new Date().toISOString().slice(0, 10),
      ingredients: [
        { title: 'Photo of the person', name: nameIngredient(PERSON, ingredientSalt) },
        { title: 'Image of the product', name: nameIngredient(PRODUCT, ingredientSalt) },
      ],
    })
  })

  it('are invalid after a flip of any image bit', async () => {
    const { image, unsigned } = await signedAs(format)
    const ends = [image.length - 1, Math.floor(image.length / 2), 30]
    // Where the manifest is, at the end of a WebP and before the pixels otherwise, another problem is found than in the pixels.
    for (const at of ends) {
      const { status, problems } = await verifyProvenance(flipped(image, at))
      expect([at, status === 'valid', problems.length > 0]).toEqual([at, false, true])
    }
    const pixels = format === 'webp' ? unsigned.length - 20 : image.length - 20
    expect((await verifyProvenance(flipped(image, pixels))).problems).toEqual([
      'The image was changed after it was signed.',
    ])
  })

  it('are absent from unsigned, truncated and other files', async () => {
    const { image, unsigned } = await signedAs(format)
    expect((await verifyProvenance(unsigned)).status).toBe('none')
    expect((await verifyProvenance(image.subarray(0, 300))).status).not.toBe('valid')
    expect((await verifyProvenance(Buffer.from('text'))).status).toBe('none')
  })
})

describe('the names of ingredients', () => {
  it('differ for each result, so that a known photo cannot be matched', async () => {
    const names = await Promise.all(
      FORMATS.map(
        async (format) => (await verifyProvenance((await signedAs(format)).image)).statement?.ingredients[0].name,
      ),
    )
    expect(new Set(names).size).toBe(FORMATS.length)
  })
})

/** Of the signature and the first chunk of a PNG. */
const HEADER_END = 33
/** Description of a C2PA manifest store (C2PA 2.1, 11.1.4). */
const DESCRIPTION = jumbfBox(
  'jumd',
  Buffer.from(`${Buffer.from('c2pa').toString('hex')}00110010800000aa00389b71037800`, 'hex'),
)
/** CBOR of 60,000 bytes with tag 2. */
const BIG_NUMBER = jumbfBox('cbor', Buffer.concat([Buffer.from('c259ea60', 'hex'), Buffer.alloc(60_000, 0xff)]))

describe('Content Credentials that anyone can sign', () => {
  const [certificate, issuer] = key.certificates.map(({ raw }) => new X509Certificate(new Uint8Array(raw)))
  /** An image whose claim mentions the hash of the image `mentions` times, signed with a chain of `issuers`. */
  const forged = async ({ mentions = 1, issuers = 1 }) => {
    const asset = openAsset(await encodeImage(bitmap, { format: 'jpeg' }))
    if (asset === null) throw new Error('no JPEG')
    const signer: Signer = {
      algorithm: CoseAlgorithmIdentifier.Ed25519,
      certificate,
      chainCertificates: Array.from({ length: issuers }, () => issuer),
      sign: async (payload) => new Uint8Array(sign(null, payload, key.privateKey)),
    }
    const store = new ManifestStore()
    const manifest = store.createManifest({
      claimVersion: ClaimVersion.V1,
      assetFormat: asset.mimeType,
      instanceID: 'xmp:iid:1',
      defaultHashAlgorithm: 'SHA-256',
      signer,
    })
    const binding = DataHashAssertion.create('SHA-256')
    manifest.addAssertion(binding)
    for (let i = 1; i < mentions; i++) manifest.claim?.assertions.push(manifest.createAssertionReference(binding))
    await asset.ensureManifestSpace(store.measureSize())
    await binding.updateWithAsset(asset)
    await manifest.sign(signer)
    await asset.writeManifestJUMBF(store.getBytes())
    return asset.getDataRange()
  }

  it('make the image be hashed only once', async () => {
    expect(await verifyProvenance(await forged({}))).toMatchObject({ status: 'valid' })
    expect(await verifyProvenance(await forged({ mentions: 50 }))).toMatchObject({
      status: 'invalid',
      problems: ['The Content Credentials are damaged (general.error).'],
    })
  })

  it.each([
    ['50 assertions', { mentions: 51 }],
    ['8 issuers of certificates', { issuers: 9 }],
  ])('are refused with more than %s', async (limit, options) => {
    const problems = [expect.stringContaining(`have more than ${limit}, so`)]
    expect(await verifyProvenance(await forged(options))).toMatchObject({ status: 'invalid', problems })
  })

  it.each([
    ['with more than 1000 boxes', nestedBoxes(1001), 'have more than 1000 boxes'],
    // Read as a number of 64 KB, it would be a claim of the wrong type.
    ['with a big number', jumbfBox('jumb', Buffer.concat([DESCRIPTION, BIG_NUMBER])), 'damaged (general.error)'],
    // As text, the last value would have 2^60 characters.
    ['with shared values', jumbfBox('jumb', Buffer.concat([DESCRIPTION, sharedValues(60)])), 'damaged (general.error)'],
  ])('are refused %s', async (_, jumbf, problem) => {
    const plain = await encodeImage(bitmap, { format: 'png' })
    const image = Buffer.concat([plain.subarray(0, HEADER_END), pngChunk('caBX', jumbf), plain.subarray(HEADER_END)])
    const problems = [expect.stringContaining(problem)]
    expect(await verifyProvenance(image)).toMatchObject({ status: 'invalid', problems })
  })
})

function jumbfBox(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(content.length + 8)
  head.write(type, 4, 'latin1')
  return Buffer.concat([head, content])
}

/** A list of lists that each contain the one before twice (tags 28 and 29), and the last of them as a time (tag 0). */
function sharedValues(levels: number): Buffer {
  const later = Array.from({ length: levels - 1 }, (_, k) => [0xd8, 28, 0x82, 0xd8, 29, 0x18, k, 0xd8, 29, 0x18, k])
  const last = [0xc0, 0xd8, 29, 0x18, levels - 1]
  return jumbfBox('cbor', Buffer.from([0x98, levels + 1, 0xd8, 28, 0x81, 0x60, ...later.flat(), ...last]))
}

function nestedBoxes(depth: number): Buffer {
  return Array.from({ length: depth }).reduce<Buffer>((inner) => jumbfBox('jumb', inner), Buffer.alloc(0))
}

if (browserReason) console.warn(`The reference implementation of C2PA is skipped: ${browserReason}`)

describe.skipIf(browserReason)('the reference implementation of C2PA', () => {
  let browser: Browser
  let judge: Awaited<ReturnType<typeof openJudge>>
  beforeAll(async () => {
    browser = await startBrowser()
    judge = await openJudge(await browser.newPage())
  })
  afterAll(() => browser?.close())

  it.each(FORMATS)('accepts a %s, trusts its authority, and detects a flipped bit', async (format) => {
    const { image, unsigned, ingredientSalt } = await signedAs(format)
    const type = `image/${format}`
    const { manifest, ...trusted } = await judge(image, type, root)
    expect(trusted).toEqual({ state: 'Trusted', failures: [] })
    expect(manifest?.claim_generator_info).toEqual([{ name: 'Drape', version: VERSION }])
    expect(manifest?.ingredients).toMatchObject([
      { relationship: 'inputTo', instance_id: nameIngredient(PERSON, ingredientSalt) },
      { relationship: 'inputTo', instance_id: nameIngredient(PRODUCT, ingredientSalt) },
    ])
    expect(JSON.stringify(manifest)).not.toMatch(/thumbnail/)
    const actions = manifest?.assertions.find(({ label }) => label === 'c2pa.actions.v2')?.data.actions
    expect(actions).toMatchObject([
      {
        action: 'c2pa.created',
        when: `${new Date().toISOString().slice(0, 10)}T00:00:00Z`,
        digitalSourceType: 'http://cv.iptc.org/newscodes/digitalsourcetype/composite',
        softwareAgent: { name: 'warp', version: '2.1.0' },
        parameters: { 'dev.drape.weights': WEIGHTS },
      },
    ])
    expect((await judge(image, type)).failures).toEqual(['signingCredential.untrusted'])
    const changed = flipped(image, format === 'webp' ? unsigned.length - 20 : image.length - 20)
    expect(await judge(changed, type, root)).toMatchObject({
      state: 'Invalid',
      failures: ['assertion.dataHash.mismatch'],
    })
  })
})
