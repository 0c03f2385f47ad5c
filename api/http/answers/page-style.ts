import { readFileSync } from 'node:fs'

const PALETTE = readFileSync(new URL('palette.css', import.meta.url), 'utf8')
const BASE = readFileSync(new URL('base.css', import.meta.url), 'utf8')

/** The style sheet of a page, after the colours and the base that all pages share. */
export function pageStyle(style: string): string {
  return `${PALETTE}${BASE}${style}`
}
