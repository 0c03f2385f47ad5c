import { afterAll, describe, expect, it } from 'vitest'
import { encodeImage } from '../../../../api/shared/image/image.ts'
import { createProvenanceKeys } from '../../../../api/shared/provenance/provenance-keys.store.ts'
import { fingerprintOf } from '../../../../api/shared/provenance/verify.ts'
import { createSignResult } from '../../../../worker/outputs/provenance/provenance.ts'
import { readSigningKey, type SigningKey } from '../../../../worker/outputs/provenance/signing-key.ts'
import { startDrape } from '../../../support/drape.ts'

const BROWSER = 'text/html,application/xhtml+xml,*/*;q=0.8'
const image = await encodeImage({ width: 32, height: 32, channels: 3, data: new Uint8Array(3072) }, { format: 'jpeg' })
const signWith = async (key: SigningKey, name = 'warp') => {
  const signResult = await createSignResult(key)
  const engine = { name, version: '2.1.0', kind: 'preview' as const }
  return (await signResult({ image, engine, weights: null, person: image, products: [image] })).image
}

describe('the page that verifies images', async () => {
  let addresses = 0

  const drape = await startDrape({ env: { SERVICE_NAME: 'Fit & Co', PROXY_HOPS: '1' } })
  const [key, other] = await Promise.all([0, 1].map(() => readSigningKey({ key: '', certificates: '' })))
  const [certificate] = key.certificates
  await createProvenanceKeys(drape.database).note({
    fingerprint: fingerprintOf(certificate),
    certificate: certificate.toString(),
  })
  const ours = await signWith(key)
  const foreign = await signWith(other, '<script>alert(1)</script>')
  afterAll(() => drape.stop())

  /** Each visitor comes from an address of their own, unless one is given. */
  const send = async (file: Uint8Array | null, { accept = 'application/json', address = '' } = {}) => {
    const form = new FormData()
    if (file !== null) form.set('file', new Blob([new Uint8Array(file)]), 'any name.jpg')
    const headers = { accept, 'x-forwarded-for': address || `203.0.113.${addresses++ % 250}` }
    const response = await fetch(`${drape.api.url}/verify`, { method: 'POST', body: form, headers })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: accept === BROWSER ? null : JSON.parse(text),
    }
  }

  it('shows who made an image and how', async () => {
    const { status, body } = await send(ours)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      status: 'valid',
      problems: [],
      madeHere: true,
      statement: { engine: 'warp 2.1.0', sourceType: 'composite' },
      signer: { subject: 'CN=Drape self-signed, O=Drape' },
    })
    const page = await send(ours, { accept: BROWSER })
    expect(page.text).toContain('<h1>Made with Fit &#38; Co</h1>')
    expect(page.text).toContain('without generative AI')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.headers.get('cache-control')).toBe('no-store')
  })

  it('does not trust an unknown signer, and escapes its name', async () => {
    expect((await send(foreign)).body).toMatchObject({ status: 'valid', madeHere: false })
    const { text } = await send(foreign, { accept: BROWSER })
    expect(text).toContain('<h1>Signed by someone else</h1>')
    expect(text).not.toContain('<script')
  })

  it('reports a changed image, an image without credentials and a file that is not an image', async () => {
    const changed = ours.map((byte, i) => (i === ours.length - 20 ? byte ^ 1 : byte))
    expect((await send(changed)).body).toMatchObject({
      status: 'invalid',
      madeHere: false,
      problems: ['The image was changed after it was signed.'],
    })
    expect((await send(changed, { accept: BROWSER })).text).toContain('Changed after signing')
    expect((await send(image)).body).toMatchObject({ status: 'none', statement: null, signer: null })
    expect((await send(Buffer.from('text'))).body).toMatchObject({
      status: 'none',
      problems: ['The file is not a JPEG, PNG or WebP.'],
    })
  })

  it('has a form, refuses a missing or too large file, and is limited per network address', async () => {
    const form = await fetch(`${drape.api.url}/verify`, { headers: { accept: BROWSER } })
    expect(await form.text()).toContain('<form method="post" action="/verify" enctype="multipart/form-data">')
    expect(await send(new Uint8Array(10 * 1024 * 1024 + 1))).toMatchObject({
      status: 413,
      body: { code: 'FILE_TOO_LARGE' },
    })
    expect(await send(null, { accept: BROWSER })).toMatchObject({
      status: 400,
      text: expect.stringContaining('Choose an image.'),
    })
    const address = '198.51.100.7'
    for (let call = 0; call < 20; call++) expect((await send(image, { address })).status).toBe(200)
    const refused = await send(image, { address })
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
  })
})

describe('hostile credentials', () => {
  it('are refused within a time limit', async () => {
    const { verifyProvenance } = await import('../../../../api/shared/provenance/verify.ts')
    // 2 million segments of a JPEG; a chunk of a WebP with a manifest of 5 MB.
    const segments = Buffer.alloc(8_000_000, Buffer.from([0xff, 0xe1, 0, 2]))
    const webp = Buffer.alloc(5_000_020)
    webp.write('RIFF', 0)
    webp.writeUInt32LE(5_000_012, 4)
    webp.write('WEBPC2PA', 8)
    webp.writeUInt32LE(5_000_000, 16)
    expect((await verifyProvenance(Buffer.concat([Buffer.from([0xff, 0xd8]), segments]))).status).toBe('invalid')
    expect((await verifyProvenance(webp)).problems).toEqual([expect.stringMatching(/larger than 64 KB/)])
  })
})
