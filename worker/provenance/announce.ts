import type { Log } from '../../api/shared/log.ts'
import { fingerprintOf } from '../../api/shared/provenance/verify.ts'
import type { SigningKey } from './signing-key.ts'

/** As the database keeps it. */
export function describeKey({ certificates: [leaf] }: SigningKey): { fingerprint: string; certificate: string } {
  return { fingerprint: fingerprintOf(leaf), certificate: leaf.toString() }
}

const SOON_MS = 30 * 86_400_000

/** Says in the log what results are signed with, and whether that needs care. */
export function announceSigningKey({ certificates: [leaf], origin }: SigningKey, log: Log): void {
  const about = { subject: leaf.subject, validUntil: leaf.validTo, keyFingerprint: fingerprintOf(leaf) }
  if (origin === 'given') log.info(about, 'results are signed with the configured certificate')
  if (origin === 'own')
    log.info(about, 'results are signed with a self-signed certificate: PROVENANCE_CERTIFICATE is not set')
  if (origin === 'made')
    log.warn(about, 'results are signed with a key that ends with this process: PROVENANCE_KEY is not set')
  if (leaf.validToDate.getTime() - Date.now() < SOON_MS)
    log.warn(about, 'the certificate of results expires soon: renew PROVENANCE_CERTIFICATE')
}
