import type { Result } from './benchmark.ts'

/** The results as a table, one line each. */
export function presentTable(results: readonly Result[]): string {
  const head = ['id', 'ours', 'anchor', 'ratio', 'goal', 'stretch', '', 'what']
  const lines = results.map(({ id, ours, anchor, ratio, goal, stretch, reached, unit, what }) => [
    id,
    rounded(ours),
    rounded(anchor),
    ratio.toFixed(2),
    goal,
    stretch,
    reached ? 'reached' : 'missed',
    `${what} (${unit})`,
  ])
  return alignColumns([head, ...lines])
}

/** Rows as lines with aligned columns. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function rounded(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toFixed(2)
}
