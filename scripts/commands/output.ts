import Table from 'cli-table3'

/** Control, bidirectional and invisible characters, except the two joiners that some scripts need. */
const UNPRINTABLE = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/**
 * Replaces each character that could control a terminal or be invisible by its escape `\u001b`: merchants choose names, and
 * shoppers the contents of events. JSON parsers decode the escape.
 */
export function printable(text: string): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return text.replace(UNPRINTABLE, (character) => character.split('').map(escaped).join(''))
}

export function warn(line: string): void {
  console.error(printable(`warning: ${line}`))
}

type Row = Readonly<Record<string, unknown>>

/**
 * Formats a result: single values as lines of name and value, then a table per list.
 * @param width columns of the terminal; a wider table is printed entry by entry
 */
export function presentAnswer(answer: Row, width = Number.POSITIVE_INFINITY): string {
  // As in JSON: dates as strings, no methods.
  const fields = Object.entries(JSON.parse(JSON.stringify(answer)) as Row)
  const values = fields.filter(([, value]) => !isList(value))
  const parts = values.length > 0 ? [drawFields(Object.fromEntries(values))] : []
  for (const [name, rows] of fields) {
    if (!isList(rows)) continue
    const title = fields.length > 1 ? `${name}:\n` : ''
    parts.push(rows.length === 0 ? `${name}: none` : title + drawRows(rows.map(flatten), width))
  }
  return parts.join('\n\n')
}

function isList(value: unknown): value is Row[] {
  return Array.isArray(value) && value.every((entry) => isRow(entry))
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** `{ settings: { resultDays: 3 } }` → `{ 'settings.resultDays': 3 }`. */
function flatten(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).flatMap(([name, value]) =>
      isRow(value)
        ? Object.entries(flatten(value)).map(([inner, field]) => [`${name}.${inner}`, field])
        : [[name, value]],
    ),
  )
}

function drawFields(row: Row): string {
  return draw(Object.entries(flatten(row)).map(([name, value]) => [name, cellOf(value)]))
}

/** Omits columns without a value. */
function drawRows(rows: readonly Row[], width: number): string {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const columns = names.filter((name) => rows.some((row) => cellOf(row[name]) !== NO_VALUE))
  const table = draw([columns, ...rows.map((row) => columns.map((name) => cellOf(row[name])))])
  const isWide = table.split('\n').some((line) => line.length > width)
  return isWide ? rows.map(drawFields).join('\n\n') : table
}

const NO_VALUE = '-'

function cellOf(value: unknown): string {
  if (value === undefined || value === null || value === '') return NO_VALUE
  if (!Array.isArray(value)) return String(value)
  const texts = value.map((entry) => (typeof entry === 'object' ? JSON.stringify(entry) : String(entry)))
  return texts.join(', ') || NO_VALUE
}

const BORDERS = [
  ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'],
  ...['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'],
]

function draw(rows: readonly string[][]): string {
  const table = new Table({
    chars: Object.fromEntries(BORDERS.map((name) => [name, ''])),
    style: { 'padding-left': 0, 'padding-right': 2 },
  })
  table.push(...rows.map((cells) => cells.map(printable)))
  return table.toString().replaceAll(/ +$/gm, '')
}
