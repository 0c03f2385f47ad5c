import { reasonOf } from '../failure.ts'

/** Result of one examination. */
export interface Finding {
  readonly check: string
  readonly state: 'ok' | 'problem' | 'skipped'
  readonly found: string
  /** The fix of a problem, in one line. */
  readonly cure?: string
}

export const ok = (check: string, found: string): Finding => ({ check, state: 'ok', found })
export const skipped = (check: string, found: string): Finding => ({ check, state: 'skipped', found })
export const problem = (check: string, found: string, cure: string): Finding => ({
  check,
  state: 'problem',
  found,
  cure,
})

const ADD_AUTHORITY =
  'Name the authority of the certificate in NODE_EXTRA_CA_CERTS (chart: trustedCertificates), for Postgres also in sslrootcert.'
/** Codes of refused certificates. */
const TLS_CURES: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: 'Use a host name that the certificate has, or issue a certificate for this name.',
  CERT_HAS_EXPIRED: 'Renew the certificate of the server.',
  DEPTH_ZERO_SELF_SIGNED_CERT: ADD_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: ADD_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT: ADD_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: ADD_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: ADD_AUTHORITY,
}

function findTlsCure(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  return ('code' in error ? TLS_CURES[String(error.code)] : undefined) ?? findTlsCure(error.cause)
}

/** Runs an examination; converts an error to a problem with the given cure, or that of a refused certificate. */
export async function examine(
  check: string,
  cure: string,
  look: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  return look().catch((error: unknown) => {
    const reason = error instanceof Error ? reasonOf(error) : String(error)
    return [problem(check, reason.replaceAll(/\s*\n\s*/g, ' '), findTlsCure(error) ?? cure)]
  })
}
