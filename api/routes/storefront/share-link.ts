import { randomBase62 } from '../../base62.ts'

/** 131 bits. */
const LENGTH = 22

/** The part of the link that cannot be guessed. */
export function makeShareToken(): string {
  return randomBase62(LENGTH)
}

/** Whether the text can be a token at all. */
export function isShareToken(text: string): boolean {
  return text.length === LENGTH && /^[0-9A-Za-z]+$/.test(text)
}

/** Where a link is opened; `base` is what the addresses of all links begin with. */
export function shareAddress(token: string, base: string): string {
  return `${base.replace(/\/+$/, '')}/s/${token}`
}
