import { createConnection } from '../../api/client/connection.ts'
import type { Analytics } from '../../api/client/schemas.ts'
import { csvLine } from '../../api/http/answers/csv.ts'
import type { Answer, FreeCommand } from './command.ts'
import { type Options, option, UsageError } from './options.ts'
import { explained, readService } from './service.ts'

export const analyticsCommands: Readonly<Record<string, FreeCommand>> = {
  analytics: {
    summary: 'show funnel, conversion and e-mail collection of the account of DRAPE_API_KEY, by day (UTC)',
    options: [
      option('--shop <domain|id>', 'only of this shop'),
      option('--from <date>', 'first day in UTC (default: 13 days before --to)'),
      option('--to <date>', 'last day in UTC, included (default: today)'),
      option('--csv', 'print the days as CSV'),
    ],
    run: showAnalytics,
  },
}

async function showAnalytics({ shop, from, to, csv, json }: Options): Promise<Answer | undefined> {
  if (csv !== undefined && json !== undefined) throw new UsageError('--csv and --json exclude each other')
  const { call } = createConnection(readService(process.env))
  const query = { shop, from, to }
  const analytics = await explained(call<Analytics>({ method: 'GET', path: ['analytics'], query }))
  if (csv === undefined) return { ...analytics }
  const columns = ['day', ...Object.keys(analytics.totals)] as (keyof Analytics['days'][number])[]
  const rows = analytics.days.map((day) => columns.map((column) => String(day[column])))
  process.stdout.write([columns, ...rows].map(csvLine).join(''))
  return undefined
}
