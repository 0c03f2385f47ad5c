import { randomInt } from 'node:crypto'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** 131 bits. */
const LENGTH = 22

/** What nobody can guess who was not given the link. */
export function makeShareToken(): string {
  return Array.from({ length: LENGTH }, () => BASE62[randomInt(BASE62.length)]).join('')
}

/** Whether the text can be a token at all. */
export function isShareToken(text: string): boolean {
  return text.length === LENGTH && /^[0-9A-Za-z]+$/.test(text)
}

/** Where a link is opened; `base` is what the addresses of all links begin with. */
export function shareAddress(token: string, base: string): string {
  return `${base.replace(/\/+$/, '')}/s/${token}`
}
