import { webcrypto } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PublicKey,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'
import type { KeyVersion } from '../../../api/shared/signing/keyring.ts'

const DAY_MS = 86_400_000
/** Validity of the certificate. Results can be verified during this time. */
const YEARS = 10
const ALGORITHM = { name: 'Ed25519' }

/**
 * Issues a certificate for a key, and the certificate of a private authority with the same key, as PEM: C2PA rejects self-signed
 * certificates (C2PA 2.2, section 14.5). Valid from yesterday, to tolerate clock skew. Throws like `sign` of the key.
 */
export async function issueCertificates(key: KeyVersion): Promise<[leaf: string, root: string]> {
  const publicKey = new PublicKey(key.publicKey.export({ type: 'spki', format: 'der' }))
  const common = {
    publicKey,
    signingKey: SIGNING_KEY,
    signingAlgorithm: ALGORITHM,
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + YEARS * 365 * DAY_MS),
  }
  const crypto = cryptoOf(key)
  const name = 'CN=Drape self-signed authority, O=Drape'
  const root = await X509CertificateGenerator.create(
    {
      ...common,
      subject: name,
      issuer: name,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
        await SubjectKeyIdentifierExtension.create(publicKey),
      ],
    },
    crypto,
  )
  const leaf = await X509CertificateGenerator.create(
    {
      ...common,
      subject: 'CN=Drape self-signed, O=Drape',
      issuer: name,
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension([ExtendedKeyUsage.emailProtection]),
        await AuthorityKeyIdentifierExtension.create(root),
        await SubjectKeyIdentifierExtension.create(publicKey),
      ],
    },
    crypto,
  )
  return [leaf.toString('pem'), root.toString('pem')]
}

type CreateParams = Parameters<typeof X509CertificateGenerator.create>

/** Only the algorithm is read: the private key can be in a key service. */
const SIGNING_KEY = { algorithm: ALGORITHM } as webcrypto.CryptoKey

/** The generator calls only these two functions. */
function cryptoOf({ sign }: KeyVersion): CreateParams[1] {
  return {
    getRandomValues: (array: Uint8Array) => webcrypto.getRandomValues(array),
    subtle: {
      sign: async (_algorithm: unknown, _key: unknown, bytes: ArrayBuffer) =>
        new Uint8Array(await sign(new Uint8Array(bytes))).buffer,
    },
  } as unknown as CreateParams[1]
}
