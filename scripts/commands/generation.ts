import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { createGenerationSearches } from '../../api/generations/generation-search.store.ts'
import { DrapeError } from '../../api/shared/contract/errors.ts'
import { STATUSES } from '../../api/shared/generations/generation.ts'
import type { DatabaseCommand } from './command.ts'
import { argument, option, PAGE_OPTIONS, readPage, required } from './options.ts'

/** The same searches as in the dashboard. */
export const generationCommands: Readonly<Record<string, DatabaseCommand>> = {
  'generations list': {
    summary: 'list generations, newest first',
    options: [
      option('--account <id>', 'only of this account'),
      option('--status <status>', 'only in this state').choices(STATUSES),
      option('--code <code>', 'only those that failed with this error code'),
      ...PAGE_OPTIONS,
    ],
    effect: 'reads',
    inDatabase: async (database, options) => {
      const { account, status, code } = options
      if (account !== undefined) await createAccounts(database).get(account)
      const only = {
        ...(account && { accountId: account }),
        ...(status && { status }),
        ...(code && { errorCode: code }),
      }
      return { generations: await createGenerationSearches(database).listing.list({ only }, readPage(options)) }
    },
  },
  'generations show': {
    summary: 'show everything that is stored of a generation',
    argument: argument('<generation>', 'ID of the generation, gen_…'),
    effect: 'reads',
    inDatabase: async (database, options) => {
      const id = required(options.generation, 'generation')
      const found = await createGenerationSearches(database).find(id)
      if (found === null) throw new DrapeError('GENERATION_NOT_FOUND', `The generation ${id} does not exist.`)
      return { ...found }
    },
  },
}
