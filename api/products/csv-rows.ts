import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { parseBoundedJson } from '../http/bodies/bounded-json.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { boundCells } from './csv-width.ts'
import { type CatalogEntry, invalidFile } from './entry.ts'

/** Columns by header name without case, spaces, `_` and `-`. Other columns are ignored. */
const COLUMNS: Readonly<Record<string, string>> = {
  externalid: 'externalId',
  title: 'title',
  description: 'description',
  imageurls: 'imageUrls',
  imageurl: 'imageUrls',
  images: 'imageUrls',
  validfordays: 'validForDays',
  metadata: 'metadata',
}
const DELIMITERS = [',', ';', '\t']
const MAX_ROW_CHARACTERS = 1024 * 1024
/** Maximum length of the header row; exports of shop platforms have fewer than 200 columns. */
const MAX_HEADER_CHARACTERS = 64 * 1024
const MAX_COLUMNS = 1000
const LINE_END = /[\r\n]/

/** The products of a CSV file with a header row. Throws `VALIDATION_FAILED` with the line. */
export async function* readCsvRows(text: AsyncIterable<string>): AsyncGenerator<CatalogEntry> {
  const { head, chunks } = await peekLine(text)
  const delimiter = delimiterOf(head)
  const parser = parse({
    delimiter,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW_CHARACTERS,
  })
  // Iterating the parser throws the error of the pipeline.
  const bounded = boundCells(chunks, { delimiter, maxCells: MAX_COLUMNS + 1 })
  pipeline(Readable.from(bounded, { objectMode: false }), parser, () => {})
  let columns: readonly (string | undefined)[] | undefined
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      if (columns === undefined) columns = readHeader(record)
      else if (record.length > MAX_COLUMNS) yield tooManyCells(info.lines)
      else yield readRow(record, columns, lineOf(record, info.lines))
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    const { lines } = error as CsvError & { lines?: number }
    throw invalidFile(`is not valid CSV: ${error.message}`, lines === undefined ? '' : `line ${lines}`)
  }
  if (columns === undefined) throw invalidFile('has no header row')
}

/** The parser reports the line at the end of a row. */
function lineOf(record: readonly string[], endLine: number): number {
  return record.reduce((line, cell) => line - (cell.split('\n').length - 1), endLine)
}

function tooManyCells(line: number): CatalogEntry {
  return { line, problem: invalidFile(`has more than ${MAX_COLUMNS} cells`, `line ${line}`) }
}

function readHeader(record: readonly string[]): (string | undefined)[] {
  if (record.length > MAX_COLUMNS) throw invalidFile(`must have at most ${MAX_COLUMNS} columns`, 'line 1')
  const columns = record.map((name) => COLUMNS[name.toLowerCase().replace(/[\s_-]/g, '')])
  if (!columns.includes('externalId')) throw invalidFile('must have a column externalId', 'line 1')
  return columns
}

function readRow(record: readonly string[], columns: readonly (string | undefined)[], line: number): CatalogEntry {
  if (record.slice(columns.length).some((cell) => cell.trim() !== '')) {
    return {
      line,
      problem: invalidFile(`has ${record.length} cells, the header has ${columns.length}`, `line ${line}`),
    }
  }
  try {
    const cells = columns.map((column, i) => [column, record[i]?.trim() ?? ''] as const)
    const named = cells.filter(([column, text]) => column !== undefined && text !== '')
    return { line, product: Object.fromEntries(named.map(([column = '', text]) => readCell(column, text))) }
  } catch (error) {
    if (!(error instanceof DrapeError)) throw error
    return { line, problem: error }
  }
}

/** Parses cells that are not text; the schema rejects invalid values. */
function readCell(column: string, text: string): [string, unknown] {
  switch (column) {
    case 'imageUrls':
      return ['images', text.split(/[\s|]+/).map((url) => ({ source: { url } }))]
    case 'validForDays':
      return [column, text === 'forever' ? null : /^\d+$/.test(text) ? Number(text) : text]
    case 'metadata':
      return [column, parseBoundedJson(text, column)]
    default:
      return [column, text]
  }
}

function delimiterOf(head: string): string {
  const [first] = DELIMITERS.map((mark) => ({ mark, count: head.split(mark).length })).toSorted(
    (a, b) => b.count - a.count,
  )
  return first.mark
}

/**
 * Returns the first line, and the text including it. Throws `VALIDATION_FAILED` when the line is too long for a header
 * row.
 */
async function peekLine(text: AsyncIterable<string>) {
  const iterator = text[Symbol.asyncIterator]()
  let start = ''
  while (!LINE_END.test(start.trimStart()) && start.length <= MAX_HEADER_CHARACTERS) {
    const { done, value } = await iterator.next()
    if (done) break
    start += value
  }
  const [head] = start.trimStart().split(LINE_END, 1)
  if (head.length > MAX_HEADER_CHARACTERS) {
    throw invalidFile(`must have a header row of at most ${MAX_HEADER_CHARACTERS} characters`, 'line 1')
  }
  async function* chunks() {
    yield start
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) yield next.value
  }
  return { head, chunks: chunks() }
}
