import type { DatabaseCommand } from './command.ts'
import { argument, UsageError } from './options.ts'

const ID = /^(gen|evt)_([\w-]{1,100})$/

export const debugCommand: DatabaseCommand = {
  summary: 'print the history of a generation in chronological order',
  argument: argument(
    'generation',
    'ID of the generation (gen_…), of its job (gen_…-2) or of its webhook event (evt_…)',
  ),
  effect: 'reads',
  inDatabase: async (database, { generation = '' }) => {
    const [, , name] = ID.exec(generation) ?? []
    if (name === undefined) throw new UsageError('the generation must be an ID such as gen_…')
    // The ID of a job ends with its attempt, and UUIDs may end alike.
    const ids = [name, name.replace(/-\d{1,2}$/, '')].map((id) => `gen_${id}`)
    return (await import('./debug/explain.ts')).explain(database, [...new Set(ids)])
  },
}
