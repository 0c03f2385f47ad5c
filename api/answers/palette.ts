import { readFileSync } from 'node:fs'

const PALETTE = readFileSync(new URL('palette.css', import.meta.url), 'utf8')

/** A style sheet after the colours that all pages share. */
export function withPalette(style: string): string {
  return `${PALETTE}${style}`
}
