import type { Outcome, Result } from './benchmark.ts'

/** The results as a table, one line each, and the tables behind them. */
export function presentTable(results: readonly Result[]): string {
  const head = ['id', 'ours', 'anchor', 'ratio', 'goal', '', 'what']
  const lines = results.map(({ id, ours, anchor, ratio, goal, reached, unit, what }) => [
    id,
    rounded(ours),
    rounded(anchor),
    ratio.toFixed(2),
    goal,
    reached ? 'reached' : 'missed',
    `${what} (${unit})`,
  ])
  return [alignColumns([head, ...lines]), ...results.flatMap(({ details = [] }) => details)].join('\n')
}

/** The table, then which figures missed their goal, and what could not be measured. */
export function presentOutcome({ results, failed }: Outcome): string {
  const missed = results
    .filter(({ reached }) => !reached)
    .map(({ id, ratio, goal }) => `${id} (${rounded(ratio)}, goal ${goal})`)
  return [
    ...(results.length > 0 ? [presentTable(results)] : []),
    ...(missed.length > 0 ? [`Missed the goal: ${missed.join(', ')}`] : []),
    ...failed.map(({ id, reason }) => `Not measured: ${id}: ${reason}`),
  ].join('\n')
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
