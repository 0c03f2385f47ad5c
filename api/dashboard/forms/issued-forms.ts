import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { RejectedForm } from './rejected-form.ts'

/** What the operator may do from a page. */
export interface Forms {
  /** Whether the operator may open this page, which may belong to an extension that is off. */
  canOpen(path: string): boolean
  /** Issues the ID of a new form that posts to this path; null when the operator may not submit it. */
  issue(action: string): string | null
  /** The refused form of this action; null for a form that is shown for the first time. */
  kept(action: string): RejectedForm | null
}

const NONCE_LENGTH = 22

/** Issues form IDs that are valid only in this session and for their path. */
export function createFormIssuer(key: Buffer): (action: string) => string {
  return (action) => {
    const nonce = randomBytes(16).toString('base64url')
    return `${nonce}.${sign(key, { nonce, action })}`
  }
}

/**
 * The part of an issued ID that identifies the form in the audit log; null when the ID was not issued with this key for
 * this path.
 */
export function readIssuedForm(id: string, { key, action }: { key: Buffer; action: string }): string | null {
  const nonce = id.slice(0, NONCE_LENGTH)
  const [given, wanted] = [Buffer.from(id), Buffer.from(`${nonce}.${sign(key, { nonce, action })}`)]
  return given.length === wanted.length && timingSafeEqual(given, wanted) ? nonce : null
}

function sign(key: Buffer, { nonce, action }: { nonce: string; action: string }): string {
  return createHmac('sha256', key).update(`${nonce} ${action}`).digest('base64url')
}
