import { X509Certificate } from 'node:crypto'
import { InvalidConfiguration } from '../../../api/shared/process/config.ts'
import { isIssuedBy, isValidNow } from '../../../api/shared/provenance/trust.ts'
import { fingerprintOf } from '../../../api/shared/provenance/verify.ts'
import { type Keyring, type KeyVersion, readKeyring } from '../../../api/shared/signing/keyring.ts'
import { issueCertificates } from './certificate.ts'

export interface SigningKey {
  /** Throws like `sign` of the version of the key. */
  readonly sign: KeyVersion['sign']
  /** The certificate of the key first, then its issuers up to a trusted one. */
  readonly certificates: Certificates
  /**
   * `made`: key and certificates were generated on start-up; `own`: certificates were issued for a configured key; `given`: both are
   * configured.
   */
  readonly origin: 'made' | 'own' | 'given'
}

type Certificates = readonly [X509Certificate, ...X509Certificate[]]

/** Returns the key that signs now, with its certificates. Throws like `list` and `sign` of a keyring. */
export type FindSigningKey = () => Promise<SigningKey>

/**
 * Signs with the newest version of the key and a certificate that is issued for it, or with the version to which the configured
 * certificate belongs.
 * @throws Error that names the invalid variable and the fix
 */
export function createFindSigningKey(keyring: Keyring, certificates: string): FindSigningKey {
  if (keyring.origin === 'made' && certificates !== '')
    refuse('PROVENANCE_CERTIFICATE requires its key: set PROVENANCE_KEY or PROVENANCE_TRANSIT_KEY')
  if (certificates !== '') return createFindGiven(keyring, readCertificates(certificates))
  const issued = new Map<string, Promise<SigningKey>>()
  return async () => {
    const [version] = await keyring.list()
    const known = issued.get(version.fingerprint)
    if (known !== undefined) return known
    const made = issueFor(version, keyring.origin === 'made' ? 'made' : 'own')
    issued.set(version.fingerprint, made)
    made.catch(() => issued.delete(version.fingerprint))
    return made
  }
}

async function issueFor(version: KeyVersion, origin: SigningKey['origin']): Promise<SigningKey> {
  const [leaf, root] = (await issueCertificates(version)).map((pem) => new X509Certificate(pem))
  return { sign: version.sign, certificates: [leaf, root], origin }
}

function createFindGiven(keyring: Keyring, certificates: Certificates): FindSigningKey {
  const wanted = fingerprintOf(certificates[0])
  let found: SigningKey | null = null
  return async () => {
    const version = (await keyring.list()).find(({ fingerprint }) => fingerprint === wanted)
    if (version === undefined) {
      refuse(
        keyring.origin === 'service'
          ? 'PROVENANCE_CERTIFICATE does not belong to a version of PROVENANCE_TRANSIT_KEY'
          : 'PROVENANCE_CERTIFICATE does not belong to PROVENANCE_KEY',
      )
    }
    found ??= { sign: version.sign, certificates, origin: 'given' }
    return found
  }
}

/** The signing key of PEM texts; generates what is empty. Throws like `createFindSigningKey`. */
export async function readSigningKey({
  key,
  certificates,
}: {
  key: string
  certificates: string
}): Promise<SigningKey> {
  const variables = { prefix: 'PROVENANCE', pem: key, transitKey: '', token: '', tokenFile: '' }
  return createFindSigningKey(readKeyring(variables), certificates)()
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
