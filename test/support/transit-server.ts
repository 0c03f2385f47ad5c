import { createCipheriv, createDecipheriv, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface TransitServer {
  readonly keyUrl: string
  readonly token: string
  /** While set, responds with 503 to everything, like a sealed server. */
  isSealed: boolean
  /** While set, refuses to sign, as for a token without the permission. */
  refusesToSign: boolean
  /** While set, returns signatures of another key. */
  isForging: boolean
  /** Creates another version of the key, which encrypts and signs from now on. */
  rotate(): void
  countCalls(): number
  stop(): Promise<void>
}

/**
 * The part of OpenBao's transit engine that encrypts, decrypts and signs, as its API reference has it: `vault:v<version>:<base64>` by
 * AES-256-GCM or Ed25519, 403 for another token, 400 for a ciphertext that is not its own and for a version that does not exist.
 */
export async function startTransitServer(name = 'drape', type = 'ed25519'): Promise<TransitServer> {
  const token = `s.${randomBytes(12).toString('hex')}`
  const versions = [makeVersion()]
  let calls = 0
  const server = createServer(async (request, response) => {
    calls++
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    const sent = await text(request)
    if (transit.isSealed) return answer(503, { errors: ['Vault is sealed'] })
    if (request.headers['x-vault-token'] !== token) return answer(403, { errors: ['permission denied'] })
    const action = `${request.method} ${request.url?.replace('/v1/transit/', '')}`
    if (action === `GET keys/${name}`) return answer(200, { data: describe(versions, type) })
    const body: Record<string, string> = sent === '' ? {} : JSON.parse(sent)
    if (action === `POST encrypt/${name}`) {
      return answer(200, { data: { ciphertext: encrypt(versions, Buffer.from(body.plaintext, 'base64')) } })
    }
    if (action === `POST sign/${name}`) {
      if (transit.refusesToSign) return answer(403, { errors: ['permission denied'] })
      const number = Number(body.key_version ?? versions.length)
      const version = transit.isForging ? makeVersion() : versions[number - 1]
      if (version === undefined) return answer(400, { errors: ['requested version is higher than the latest'] })
      const signature = sign(null, Buffer.from(body.input, 'base64'), version.privateKey).toString('base64')
      return answer(200, { data: { key_version: number, signature: `vault:v${number}:${signature}` } })
    }
    if (action !== `POST decrypt/${name}`) return answer(404, { errors: [] })
    try {
      return answer(200, { data: { plaintext: decrypt(versions, body.ciphertext).toString('base64') } })
    } catch {
      return answer(400, { errors: ['cipher: message authentication failed'] })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const transit: TransitServer = {
    token,
    isSealed: false,
    refusesToSign: false,
    isForging: false,
    keyUrl: `http://127.0.0.1:${port}/v1/transit/keys/${name}`,
    rotate: () => void versions.push(makeVersion()),
    countCalls: () => calls,
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return transit
}

const makeVersion = () => ({ ...generateKeyPairSync('ed25519'), secret: randomBytes(32) })
type Version = ReturnType<typeof makeVersion>

function describe(versions: readonly Version[], type: string) {
  const keys = versions.map(({ publicKey }, i) => [
    i + 1,
    { name: type, public_key: publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64') },
  ])
  return { type, derived: false, latest_version: versions.length, keys: Object.fromEntries(keys) }
}

function encrypt(versions: readonly Version[], plaintext: Buffer): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', versions[versions.length - 1].secret, nonce)
  const bytes = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
  return `vault:v${versions.length}:${bytes.toString('base64')}`
}

function decrypt(versions: readonly Version[], ciphertext: string): Buffer {
  const [, version, base64] = /^vault:v(\d+):(.+)$/.exec(ciphertext) ?? []
  const bytes = Buffer.from(base64, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', versions[Number(version) - 1].secret, bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(-16))
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
}
