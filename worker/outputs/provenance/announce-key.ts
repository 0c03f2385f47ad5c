import type { WorkerOperations } from '../../../api/shared/generations/worker-calls.ts'
import { fingerprintOf } from '../../../api/shared/provenance/verify.ts'
import type { Log } from '../../../api/shared/telemetry/log.ts'
import type { SigningKey } from './signing-key.ts'

const SOON_MS = 30 * 86_400_000

/** Logs which key and certificate sign the results, with a warning if either needs attention. */
export function announceSigningKey({ certificates: [leaf], origin }: SigningKey, log: Log): void {
  const about = { subject: leaf.subject, validUntil: leaf.validTo, keyFingerprint: fingerprintOf(leaf) }
  if (origin === 'given') log.info(about, 'results are signed with the configured certificate')
  if (origin === 'own')
    log.info(about, 'results are signed with a self-signed certificate: PROVENANCE_CERTIFICATE is not set')
  if (origin === 'made')
    log.warn(
      about,
      'results are signed with a temporary key, which is lost when this process exits: PROVENANCE_KEY is not set',
    )
  if (leaf.validToDate.getTime() - Date.now() < SOON_MS)
    log.warn(about, 'the signing certificate expires soon: renew PROVENANCE_CERTIFICATE')
}

const AGAIN_MS = 5000

/** Records the key in the database as soon as an API is available. The API recognises its own results by this key. */
export async function noteSigningKey(
  key: SigningKey,
  calls: Pick<WorkerOperations, 'noteProvenanceKey'>,
  log: Log,
): Promise<void> {
  const [leaf] = key.certificates
  try {
    await calls.noteProvenanceKey({ fingerprint: fingerprintOf(leaf), certificate: leaf.toString() })
  } catch (error) {
    log.warn({ err: error }, 'the signing key is not recorded in the database yet')
    setTimeout(() => noteSigningKey(key, calls, log), AGAIN_MS).unref()
  }
}
