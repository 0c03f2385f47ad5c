import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { encodeImage, normaliseImage } from '../../../api/shared/image/image.ts'
import { run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { createSignResult } from '../../../worker/outputs/provenance/provenance.ts'
import { readSigningKey } from '../../../worker/outputs/provenance/signing-key.ts'
import { createAuthority } from '../../support/certificates.ts'
import { createCommandLine } from '../../support/command-line.ts'
import { commandsOf } from '../../support/documented-blocks.ts'

const { drape } = createCommandLine('postgres://nobody@127.0.0.1:1/nothing')
const bitmapOf = (value: number) => ({
  width: 32,
  height: 32,
  channels: 3 as const,
  data: new Uint8Array(32 * 32 * 3).fill(value),
})

describe('drape provenance verify', async () => {
  const put = async (name: string, content: Uint8Array | string) => {
    const path = join(folder, name)
    await writeFile(path, content)
    return path
  }
  const verify = async (...args: string[]) => {
    const { code, output, stderr } = await drape('provenance', 'verify', ...args)
    return { code, stderr, ...(output && JSON.parse(output)) }
  }

  const folder = await mkdtemp(join(tmpdir(), 'drape-provenance-'))
  const authority = await createAuthority()
  const { key, certificates } = await authority.issue()
  const signResult = await createSignResult(await readSigningKey({ key, certificates }))
  const [image, photo, product] = await Promise.all(
    [90, 120, 150].map((value) => encodeImage(bitmapOf(value), { format: 'png' })),
  )
  const signed = await signResult({
    image,
    engine: { name: 'fashn-vton', version: '1.5', kind: 'photo' },
    weights: 'ab'.repeat(32),
    // As the API stores it.
    person: (await normaliseImage(photo)).bytes,
    products: [product],
  })
  await Promise.all([
    ...[put('result.png', signed.image), put('plain.png', image), put('photo.png', photo)],
    put(
      'changed.png',
      signed.image.map((byte, i) => (i === signed.image.length - 20 ? byte ^ 1 : byte)),
    ),
    ...[put('trust.pem', authority.certificate), put('foreign.pem', (await createAuthority()).certificate)],
  ])
  afterAll(() => rm(folder, { recursive: true }))

  it('shows signer and origin of an image', async () => {
    const path = (name: string) => join(folder, name)
    expect(await verify(path('result.png'), '--trust', path('trust.pem'))).toMatchObject({
      code: 0,
      status: 'valid',
      problems: [],
      statement: { engine: 'fashn-vton 1.5', sourceType: 'compositeWithTrainedAlgorithmicMedia' },
      signer: { subject: 'CN=Example shop, O=Example', trusted: true },
    })
    const salted = ['--salt', signed.ingredientSalt]
    expect(await verify(path('result.png'), '--ingredient', path('photo.png'), ...salted)).toMatchObject({
      code: 0,
      isIngredient: true,
    })
    expect(await verify(path('result.png'), '--ingredient', path('result.png'), ...salted)).toMatchObject({
      code: 1,
      isIngredient: false,
    })
  })

  it('verifies an ingredient with the command of docs/provenance.md', async () => {
    await Promise.all([put('result.jpg', signed.image), put('photo.jpg', await readFile(join(folder, 'photo.png')))])
    const command = commandsOf('docs/provenance.md', 'Keyed hashes of ingredients')
    expect(command).toContain('9f2c…')
    const script = `drape() { node "$ROOT/scripts/drape.ts" "$@"; }\n${command.replace('9f2c…', signed.ingredientSalt)}`
    const env = { ...process.env, ROOT }
    expect(await run('bash', ['--norc', '-euc', script], { cwd: folder, env })).toMatch(/isIngredient +true/)
  })

  it('makes key and request for a certificate with the commands of docs/provenance.md', async () => {
    const page = commandsOf('docs/provenance.md', 'Use a trusted certificate')
    await run('bash', ['--norc', '-euc', page], { cwd: folder })
    const read = ['req', '-in', 'request.pem', '-noout', '-verify', '-subject', '-text']
    const request = await run('openssl', read, { cwd: folder })
    expect(request).toMatch(/O ?= ?Example Ltd, CN ?= ?Example Ltd virtual try-on[\s\S]*Public Key Algorithm: ED25519/)
  })

  it('issues a certificate that workers accept with the commands of docs/provenance.md', async () => {
    const root = ['req', '-x509', '-newkey', 'ed25519', '-noenc', '-keyout', 'root.key', '-out', 'root.pem']
    await run('openssl', [...root, '-subj', '/O=Example Ltd/CN=Example root'], { cwd: folder })
    for (const index of [0, 1])
      await run('bash', ['--norc', '-euc', commandsOf('docs/provenance.md', 'Use a trusted certificate', index)], {
        cwd: folder,
      })
    const [key, certificates] = await Promise.all(
      ['tls.key', 'tls.crt'].map((name) => readFile(join(folder, name), 'utf8')),
    )
    const signResult = await createSignResult(await readSigningKey({ key, certificates }))
    const image = await encodeImage(bitmapOf(90), { format: 'png' })
    const engine = { name: 'warp', version: '1', kind: 'preview' } as const
    const { image: result } = await signResult({ image, engine, weights: null, person: image, products: [image] })
    expect(await verify(await put('own.png', result), '--trust', join(folder, 'root.pem'))).toMatchObject({
      code: 0,
      status: 'valid',
      signer: { issuer: 'O=Example Ltd, CN=Example root', trusted: true },
    })
  })

  it.each([
    [['changed.png'], { code: 1, status: 'invalid', problems: ['The image was changed after it was signed.'] }],
    [['plain.png'], { code: 1, status: 'none' }],
    [['result.png', '--trust', 'foreign.pem'], { code: 1, status: 'invalid', signer: { trusted: false } }],
    [
      ['missing.png'],
      {
        code: 2,
        stderr: expect.stringMatching(/missing\.png cannot be read \(ENOENT\)\. Help: drape provenance verify/),
      },
    ],
    [
      ['result.png', '--trust', 'plain.png'],
      { code: 2, stderr: expect.stringMatching(/^--trust must be a file of certificates/) },
    ],
    [
      ['result.png', '--ingredient', 'photo.png'],
      { code: 2, stderr: expect.stringMatching(/^--ingredient requires --salt/) },
    ],
  ])('answers %j with its reason', async (args, answer) => {
    const paths = args.map((arg) => (arg.startsWith('--') ? arg : join(folder, arg)))
    expect(await verify(...paths)).toMatchObject(answer)
  })
})
