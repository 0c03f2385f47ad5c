import type { X509Certificate } from 'node:crypto'

/** Of the certificates that a file brings, at most so many are looked through. */
const MAX_LENGTH = 8

/** Whether a certificate is one of the anchors, or leads to one of them by certificates of its chain that are valid now. */
export function isTrusted(
  leaf: X509Certificate,
  { chain, anchors }: { chain: readonly X509Certificate[]; anchors: readonly X509Certificate[] },
): boolean {
  let current = leaf
  for (let step = 0; step < MAX_LENGTH; step++) {
    if (anchors.some((anchor) => anchor.fingerprint256 === current.fingerprint256)) return true
    if (anchors.some((anchor) => isIssuedBy(current, anchor))) return true
    const issuer = chain.find((certificate) => isIssuedBy(current, certificate))
    if (issuer === undefined) return false
    current = issuer
  }
  return false
}

/** By the names, by the signature, and by an issuer that may issue now. */
export function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return issuer.ca && isValidNow(issuer) && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}

export function isValidNow({ validFromDate, validToDate }: X509Certificate, now = Date.now()): boolean {
  return validFromDate.getTime() <= now && now <= validToDate.getTime()
}
