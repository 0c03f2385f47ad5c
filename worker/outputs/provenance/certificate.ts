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
import type { KeyPair } from '../../../api/shared/provenance/private-key.ts'

const DAY_MS = 86_400_000
/** Validity of the certificate. Results can be verified during this time. */
const YEARS = 10
const ALGORITHM = { name: 'Ed25519' }

/**
 * Issues a certificate for a key, and the certificate of a private authority with the same key, as PEM: C2PA rejects self-signed
 * certificates (C2PA 2.2, section 14.5). Valid from yesterday, to tolerate clock skew.
 */
export async function issueCertificates(key: KeyPair): Promise<[leaf: string, root: string]> {
  const publicKey = new PublicKey(key.publicKey.export({ type: 'spki', format: 'der' }))
  const common = {
    publicKey,
    signingKey: key.privateKey.toCryptoKey(ALGORITHM, false, ['sign']),
    signingAlgorithm: ALGORITHM,
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + YEARS * 365 * DAY_MS),
  }
  const name = 'CN=Drape self-signed authority, O=Drape'
  const root = await X509CertificateGenerator.create({
    ...common,
    subject: name,
    issuer: name,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
      await SubjectKeyIdentifierExtension.create(publicKey),
    ],
  })
  const leaf = await X509CertificateGenerator.create({
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
  })
  return [leaf.toString('pem'), root.toString('pem')]
}
