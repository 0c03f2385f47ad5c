import { TABLE_GROUPS } from './catalogue.ts'
import { type PlaceMap, REDIS_FAMILIES, STORAGE_PREFIXES } from './places.ts'
import type { TableMap } from './table-map.ts'

/** The tables of docs/privacy.md, as Markdown. */
export function describeDataMap(): string {
  const groups = Object.entries(TABLE_GROUPS).map(([heading, tables]) => `### ${heading}\n\n${describeTables(tables)}`)
  return [
    ...groups,
    `### Object storage\n\n${describePlaces('Prefix', STORAGE_PREFIXES)}`,
    `### Redis\n\n${describePlaces('Keys', REDIS_FAMILIES)}`,
  ].join('\n\n')
}

function describeTables(tables: Readonly<Record<string, TableMap>>): string {
  const rows = Object.entries(tables).flatMap(([name, { about, personal }]) =>
    about === null ? [] : [[`\`${name}\``, columnsOf(personal), about.purpose, about.lifetime, about.erasure]],
  )
  return `${tableOf(['Table', 'Personal data', 'Purpose', 'Lifetime', 'Erased by'], rows)}${withoutData(tables)}`
}

function withoutData(maps: Readonly<Record<string, Pick<TableMap, 'about'>>>): string {
  const names = Object.entries(maps).flatMap(([name, { about }]) => (about === null ? [`\`${name}\``] : []))
  return names.length === 0 ? '' : `\n\nNo personal data: ${names.join(', ')}.`
}

function columnsOf(personal: TableMap['personal']): string {
  return Object.entries(personal)
    .map(([column, content]) => `\`${column}\`: ${content}`)
    .join('; ')
}

function describePlaces(kind: string, places: Readonly<Record<string, PlaceMap>>): string {
  const rows = Object.entries(places).flatMap(([key, { content, about }]) =>
    about === null ? [] : [[`\`${key}\``, content, about.purpose, about.lifetime, about.erasure]],
  )
  return `${tableOf([kind, 'Content', 'Purpose', 'Lifetime', 'Erased by'], rows)}${withoutData(places)}`
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, ...rows].map((row) => `| ${row.join(' | ')} |`)
  return lines.toSpliced(1, 0, `|${'---|'.repeat(head.length)}`).join('\n')
}
