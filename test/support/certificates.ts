import { generateKeyPairSync, type KeyObject, webcrypto } from 'node:crypto'
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'

const DAY_MS = 86_400_000
const ALGORITHM = { name: 'Ed25519' }

/** A certificate authority for signing keys and servers, like that of an organisation. */
export async function createAuthority(name = 'CN=Test authority, O=Example') {
  const keys = (await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair
  const [notBefore, notAfter] = [new Date(Date.now() - DAY_MS), new Date(Date.now() + 1000 * DAY_MS)]
  const root = await X509CertificateGenerator.createSelfSigned({
    name,
    keys,
    notBefore,
    notAfter,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new BasicConstraintsExtension(true, 1, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  const certify = async (
    publicKey: KeyObject,
    {
      days = [-1, 30],
      subject = 'CN=Example shop, O=Example',
      usages = [ExtendedKeyUsage.emailProtection],
      address,
    }: {
      days?: readonly [number, number]
      subject?: string
      usages?: ExtendedKeyUsage[]
      /** IP address of a server. */
      address?: string
    } = {},
  ) => {
    const publicCryptoKey = publicKey.toCryptoKey(ALGORITHM, true, ['verify'])
    const leaf = await X509CertificateGenerator.create({
      subject,
      issuer: root.subject,
      publicKey: publicCryptoKey,
      signingKey: keys.privateKey,
      signingAlgorithm: ALGORITHM,
      notBefore: new Date(Date.now() + days[0] * DAY_MS),
      notAfter: new Date(Date.now() + days[1] * DAY_MS),
      extensions: [
        new BasicConstraintsExtension(false, undefined, true),
        new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
        new ExtendedKeyUsageExtension(usages),
        ...(address === undefined ? [] : [new SubjectAlternativeNameExtension([{ type: 'ip', value: address }])]),
        await AuthorityKeyIdentifierExtension.create(root),
        await SubjectKeyIdentifierExtension.create(publicCryptoKey),
      ],
    })
    return `${leaf.toString('pem')}\n${root.toString('pem')}`
  }
  return {
    certificate: root.toString('pem'),
    /** Certificates in PEM for a public key, valid for these days from now. */
    certify,
    /** Key and certificates in PEM. */
    issue: async (options: Parameters<typeof certify>[1] = {}) => {
      const { privateKey, publicKey } = generateKeyPairSync('ed25519')
      return { key: pemOf(privateKey), certificates: await certify(publicKey, options) }
    },
  }
}

export function pemOf(key: KeyObject): string {
  return String(key.export({ type: 'pkcs8', format: 'pem' }))
}
