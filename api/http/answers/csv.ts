/** A spreadsheet would run a cell with this prefix as a formula. */
const FORMULA = /^[=+\-@\t\r\n]/

/**
 * One line of a CSV file (RFC 4180). Cells that a spreadsheet would run as formulas are prefixed with an apostrophe.
 */
export function csvLine(cells: readonly string[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

function csvCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
