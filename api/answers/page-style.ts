import { readFileSync } from 'node:fs'

const [PALETTE, BASE] = ['palette.css', 'base.css'].map((name) => readFileSync(new URL(name, import.meta.url), 'utf8'))

/** The style sheet of a page, after the colours and the base that all pages share. */
export function pageStyle(style: string): string {
  return `${PALETTE}${BASE}${style}`
}
