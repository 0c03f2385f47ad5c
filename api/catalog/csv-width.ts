import { invalidFile } from './entry.ts'

const [QUOTE, LINE_FEED, CARRIAGE_RETURN] = [34, 10, 13]

/**
 * The text of a CSV file without what lies behind the first `maxCells` cells of a row: the parser holds all cells of a row, and its limit
 * of characters does not count delimiters. Throws `VALIDATION_FAILED` when a quoted cell in what is left out does not end.
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
      // A quote within a quoted cell is doubled, which leaves the state as it is.
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
    // The end of a chunk within a row that is too wide is left out.
    if (cells <= maxCells) kept += chunk.slice(from)
    if (kept !== '') yield kept
  }
  if (isQuoted && cells > maxCells) throw invalidFile('is not valid CSV: a quoted cell does not end')
}
