import { randomBase62 } from '../../shared/process/base62.ts'

/** Maximum lifetime of a link in days. A link also expires with its image. */
export const LINK_DAYS = 30

/** 131 bits. */
const LENGTH = 22

/** The unguessable part of a link. */
export function makeShareToken(): string {
  return randomBase62(LENGTH)
}

/** Whether the text has the format of a token. */
export function isShareToken(text: string): boolean {
  return text.length === LENGTH && /^[0-9A-Za-z]+$/.test(text)
}

/** URL of a link; `base` is the prefix of all links. */
export function shareAddress(token: string, base: string): string {
  return `${base.replace(/\/+$/, '')}/s/${token}`
}
