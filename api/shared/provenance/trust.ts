import type { X509Certificate } from 'node:crypto'

/** Maximum number of issuers of a file's certificate. */
export const MAX_ISSUERS = 8

/** Whether a certificate is an anchor, or chains to an anchor through currently valid certificates. */
export function isTrusted(
  leaf: X509Certificate,
  { chain, anchors }: { chain: readonly X509Certificate[]; anchors: readonly X509Certificate[] },
): boolean {
  let current = leaf
  for (let step = 0; step < MAX_ISSUERS; step++) {
    if (anchors.some((anchor) => anchor.fingerprint256 === current.fingerprint256)) return true
    if (anchors.some((anchor) => isIssuedBy(current, anchor))) return true
    const issuer = chain.find((certificate) => isIssuedBy(current, certificate))
    if (issuer === undefined) return false
    current = issuer
  }
  return false
}

/** Checks the names, the signature, and that the issuer may issue now. */
export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return issuer.ca && isValidNow(issuer) && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}

export function isValidNow({ validFromDate, validToDate }: X509Certificate, now = Date.now()): boolean {
  return validFromDate.getTime() <= now && now <= validToDate.getTime()
}
