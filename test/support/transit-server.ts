import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

export interface TransitServer {
  readonly keyUrl: string
  readonly token: string
  /** Makes another version of the key, which encrypts from now on. */
  rotate(): void
  countCalls(): number
  stop(): Promise<void>
}

/**
 * The part of OpenBao's transit engine that encrypts and decrypts, as its API reference has it: `vault:v<version>:<base64>` by
 * AES-256-GCM, 403 for another token, 400 for a ciphertext that is not its own.
 */
export async function startTransitServer(name = 'drape'): Promise<TransitServer> {
  const token = `s.${randomBytes(12).toString('hex')}`
  const versions = [randomBytes(32)]
  let calls = 0
  const server = createServer(async (request, response) => {
    calls++
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    if (request.headers['x-vault-token'] !== token) return answer(403, { errors: ['permission denied'] })
    const body = (await json(request)) as Record<string, string>
    if (request.method === 'POST' && request.url === `/v1/transit/encrypt/${name}`) {
      return answer(200, { data: { ciphertext: encrypt(versions, Buffer.from(body.plaintext, 'base64')) } })
    }
    if (request.method !== 'POST' || request.url !== `/v1/transit/decrypt/${name}`) return answer(404, { errors: [] })
    try {
      return answer(200, { data: { plaintext: decrypt(versions, body.ciphertext).toString('base64') } })
    } catch {
      return answer(400, { errors: ['cipher: message authentication failed'] })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    token,
    keyUrl: `http://127.0.0.1:${port}/v1/transit/keys/${name}`,
    rotate: () => void versions.push(randomBytes(32)),
    countCalls: () => calls,
    stop: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function encrypt(versions: readonly Buffer[], plaintext: Buffer): string {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', versions[versions.length - 1], nonce)
  const bytes = Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()])
  return `vault:v${versions.length}:${bytes.toString('base64')}`
}

function decrypt(versions: readonly Buffer[], ciphertext: string): Buffer {
  const [, version, text] = /^vault:v(\d+):(.+)$/.exec(ciphertext) ?? []
  const bytes = Buffer.from(text, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', versions[Number(version) - 1], bytes.subarray(0, 12))
  decipher.setAuthTag(bytes.subarray(-16))
  return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()])
}
