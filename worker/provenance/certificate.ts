import { createPublicKey, type KeyObject } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'

const DAY_MS = 86_400_000
/** Validity of the certificate. Results can be verified during this time. */
const YEARS = 10
const ALGORITHM = { name: 'Ed25519' }

/**
 * Issues a certificate for a key, and the certificate of a private authority with the same key, as PEM: C2PA rejects self-signed
 * certificates (C2PA 2.2, section 14.5). Valid from yesterday, to tolerate clock skew.
 */
export async function issueCertificates(privateKey: KeyObject): Promise<[leaf: string, root: string]> {
  const keys = {
    privateKey: privateKey.toCryptoKey(ALGORITHM, true, ['sign']),
    publicKey: createPublicKey(privateKey).toCryptoKey(ALGORITHM, true, ['verify']),
  }
  const validity = {
    notBefore: new Date(Date.now() - DAY_MS),
    notAfter: new Date(Date.now() + YEARS * 365 * DAY_MS),
    signingAlgorithm: ALGORITHM,
  }
  const root = await X509CertificateGenerator.createSelfSigned({
    ...validity,
    name: 'CN=Drape self-signed authority, O=Drape',
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  const leaf = await X509CertificateGenerator.create({
    ...validity,
    subject: 'CN=Drape self-signed, O=Drape',
    issuer: root.subject,
    publicKey: keys.publicKey,
    signingKey: keys.privateKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.emailProtection]),
      await AuthorityKeyIdentifierExtension.create(root),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return [leaf.toString('pem'), root.toString('pem')]
}
