import { type KeyObject, X509Certificate } from 'node:crypto'
import { InvalidConfiguration } from '../../../api/shared/process/config.ts'
import { readKeyPair } from '../../../api/shared/provenance/private-key.ts'
import { isIssuedBy, isValidNow } from '../../../api/shared/provenance/trust.ts'
import { fingerprintOf } from '../../../api/shared/provenance/verify.ts'
import { issueCertificates } from './certificate.ts'

export interface SigningKey {
  readonly privateKey: KeyObject
  /** The certificate of the key first, then its issuers up to a trusted one. */
  readonly certificates: Certificates
  /**
   * `made`: key and certificates were generated on start-up; `own`: certificates were issued for a configured key; `given`: both are
   * configured.
   */
  readonly origin: 'made' | 'own' | 'given'
}

type Certificates = readonly [X509Certificate, ...X509Certificate[]]

/**
 * The signing key of PEM texts; generates what is empty.
 * @throws Error that names the invalid variable and the fix
 */
export async function readSigningKey({
  key,
  certificates,
}: {
  key: string
  certificates: string
}): Promise<SigningKey> {
  if (key === '' && certificates !== '') refuse('PROVENANCE_CERTIFICATE requires its key: set PROVENANCE_KEY')
  const pair = readKeyPair(key, 'PROVENANCE_KEY')
  if (certificates === '') {
    const [leaf, root] = (await issueCertificates(pair)).map((pem) => new X509Certificate(pem))
    return { privateKey: pair.privateKey, certificates: [leaf, root], origin: pair.isMade ? 'made' : 'own' }
  }
  const given = readCertificates(certificates)
  if (fingerprintOf(given[0]) !== pair.fingerprint) refuse('PROVENANCE_CERTIFICATE does not belong to PROVENANCE_KEY')
  return { privateKey: pair.privateKey, certificates: given, origin: 'given' }
}

function readCertificates(text: string): Certificates {
  const pems = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  const [leaf, ...chain] = pems.map(
    (pem) =>
      attempt(() => new X509Certificate(pem)) ??
      refuse('PROVENANCE_CERTIFICATE contains a certificate that cannot be parsed'),
  )
  if (leaf === undefined) refuse('PROVENANCE_CERTIFICATE contains no PEM certificate')
  if (!/^O=/m.test(leaf.subject)) {
    refuse('PROVENANCE_CERTIFICATE names no organisation (O), without which verifiers refuse the signature')
  }
  const all: Certificates = [leaf, ...chain]
  for (const [index, certificate] of all.entries()) {
    const name = certificate.subject.split('\n').join(', ')
    if (!isValidNow(certificate)) {
      refuse(
        `PROVENANCE_CERTIFICATE: the certificate of ${name} is valid from ${certificate.validFrom} to ${certificate.validTo}, not now. Renew the certificate, or set the clock`,
      )
    }
    const issuer = all[index + 1]
    if (issuer && !isIssuedBy(certificate, issuer))
      refuse(`PROVENANCE_CERTIFICATE: the certificate of ${name} was not issued by the certificate after it`)
  }
  return all
}

function attempt<T>(read: () => T): T | null {
  try {
    return read()
  } catch {
    return null
  }
}

function refuse(problem: string): never {
  throw new InvalidConfiguration([problem])
}
