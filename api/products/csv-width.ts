import { invalidFile } from './entry.ts'

const [QUOTE, LINE_FEED, CARRIAGE_RETURN] = [34, 10, 13]

/**
 * Drops everything after the first `maxCells` cells of each CSV row: the parser holds all cells of a row, and its
 * character limit does not count delimiters. Throws `VALIDATION_FAILED` when a quoted cell in the dropped part does not
 * end.
 */
export async function* boundCells(
  chunks: AsyncIterable<string>,
  { delimiter, maxCells }: { delimiter: string; maxCells: number },
): AsyncGenerator<string> {
  const mark = delimiter.charCodeAt(0)
  let [cells, isQuoted] = [1, false]
  for await (const chunk of chunks) {
    let kept = ''
    let from = 0
    for (let i = 0; i < chunk.length; i++) {
      const code = chunk.charCodeAt(i)
      // A quote inside a quoted cell is doubled, so the state is toggled twice.
      if (code === QUOTE) isQuoted = !isQuoted
      else if (isQuoted) continue
      else if (code === LINE_FEED || code === CARRIAGE_RETURN) {
        if (cells > maxCells) from = i
        cells = 1
      } else if (code === mark && ++cells === maxCells + 1) {
        kept += chunk.slice(from, i)
        from = chunk.length
      }
    }
    // The end of a chunk inside a row that is too wide is dropped.
    if (cells <= maxCells) kept += chunk.slice(from)
    if (kept !== '') yield kept
  }
  if (isQuoted && cells > maxCells) throw invalidFile('is not valid CSV: a quoted cell does not end')
}
