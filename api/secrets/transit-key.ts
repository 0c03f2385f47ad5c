import { createHash } from 'node:crypto'
import { createTransit, type TransitOptions } from '../shared/signing/transit.ts'
import type { KeyEncryptionKey } from './key.ts'

/**
 * A key of the transit engine of OpenBao or HashiCorp Vault: the key never leaves the server. Key rotation on the
 * server needs no change here, since its ciphertexts name the key version.
 */
export function createTransitKey(options: TransitOptions): KeyEncryptionKey {
  const transit = createTransit(options)
  return {
    id: `transit-${createHash('sha256').update(options.url).digest('hex').slice(0, 16)}`,
    wrap: async (dataKey) => {
      const { ciphertext } = await transit.call('encrypt', { plaintext: dataKey.toString('base64') })
      return Buffer.from(String(ciphertext))
    },
    unwrap: async (wrapped) => {
      const { plaintext } = await transit.call('decrypt', { ciphertext: wrapped.toString() })
      return Buffer.from(String(plaintext), 'base64')
    },
  }
}
