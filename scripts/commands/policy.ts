import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { createConsents, type PolicyName } from '../../api/consents/consents.store.ts'
import { readPolicy } from '../../api/consents/read-policy.ts'
import type { Database } from '../../api/shared/database/database.ts'
import type { DatabaseCommand } from './command.ts'
import { mandatory, type Options, option, readGiven, required, UsageError } from './options.ts'
import { findShop } from './shop.ts'

const NAMED = [
  option('--shop <id|domain>', 'shop whose visitors agree to the policy'),
  option('--account <id>', 'instead of a shop: account of an app of its own'),
]

/** Texts that visitors agree to before their photo is stored. */
export const policyCommands: Readonly<Record<string, DatabaseCommand>> = {
  'policy publish': {
    summary: 'publish a version of the text that visitors agree to; visitors are asked again',
    options: [
      ...NAMED,
      option('--policy <name>', 'with --account: name of the policy, as in consent.policy of a try-on'),
      mandatory('--policy-version <version>', 'name of the version, for example 2026-11'),
      mandatory('--texts <file|->', 'JSON with a plain text for each language: { "en": "…", "de": "…" }'),
    ],
    effect: 'changes',
    inDatabase: async (database, options) => {
      const name = await readName(database, options)
      const version = required(options['policy-version'], 'policy-version')
      const policy = readPolicy({ version, texts: await readTexts(required(options.texts, 'texts')) })
      await createConsents(database).publish(name, policy)
      return { ...name, version, languages: Object.keys(policy.texts) }
    },
  },
  'policy list': {
    summary: 'list the published versions, newest first',
    options: NAMED,
    effect: 'reads',
    inDatabase: async (database, options) => {
      const { shop, account } = options
      const name = shop === undefined ? null : await readName(database, options)
      const accountId = name?.accountId ?? (await createAccounts(database).get(required(account, 'account'))).id
      return { policies: await createConsents(database).listPolicies(accountId, name?.policy ?? null) }
    },
  },
}

async function readName(database: Database, { shop: named, account, policy }: Options): Promise<PolicyName> {
  if (named !== undefined) {
    const shop = await findShop(database, named)
    return { accountId: shop.accountId, policy: shop.domain }
  }
  const accountId = required(account, 'account')
  await createAccounts(database).get(accountId)
  const name = required(policy, 'policy').toLowerCase()
  if (!/^[\w.-]{1,253}$/.test(name))
    throw new UsageError('--policy must be letters, digits, dots, dashes or underscores')
  return { accountId, policy: name }
}

async function readTexts(path: string): Promise<unknown> {
  const text = String(await readGiven(path))
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`${path} is not JSON`)
  }
}
