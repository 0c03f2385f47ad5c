import { parseBoundedJson } from '../http/bodies/bounded-json.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { readCsvRows } from './csv-rows.ts'
import { type CatalogEntry, invalidFile, type TextItem } from './entry.ts'
import { splitJsonItems } from './json-items.ts'

const CATALOG_FORMATS = ['json', 'ndjson', 'csv'] as const
export type CatalogFormat = (typeof CATALOG_FORMATS)[number]

/** Maximum length of one product in JSON. */
const MAX_ENTRY_CHARACTERS = 1024 * 1024

/**
 * Reads a catalogue file one product at a time, so that memory is bounded for any file size. A product with invalid
 * text becomes an entry with a `problem`. Throws `VALIDATION_FAILED` when the rest of the file is unreadable.
 */
export function readEntries(format: CatalogFormat, bytes: AsyncIterable<Uint8Array>): AsyncGenerator<CatalogEntry> {
  const text = decode(bytes)
  if (format === 'csv') return readCsvRows(text)
  return format === 'json' ? parseItems(splitJsonItems(text, MAX_ENTRY_CHARACTERS)) : parseItems(splitLines(text))
}

async function* decode(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true })
    yield decoder.decode()
  } catch (error) {
    if (error instanceof TypeError) throw invalidFile('is not UTF-8 text')
    throw error
  }
}

async function* parseItems(items: AsyncIterable<TextItem>): AsyncGenerator<CatalogEntry> {
  for await (const { line, text } of items) {
    let entry: CatalogEntry
    try {
      entry = { line, product: parseBoundedJson(text, '') }
    } catch (error) {
      if (!(error instanceof DrapeError)) throw error
      entry = { line, problem: error }
    }
    yield entry
  }
}

async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<TextItem> {
  let rest = ''
  let line = 1
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const text of lines) {
      if (text.trim() !== '') yield { line, text }
      line++
    }
    if (rest.length > MAX_ENTRY_CHARACTERS) throw invalidFile('is longer than 1 MB', `line ${line}`)
  }
  if (rest.trim() !== '') yield { line, text: rest }
}
