import type { Accounts } from '../../accounts/accounts.store.ts'
import type { Html } from '../../http/answers/html.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import type { Fields } from './fields.ts'

/** Maximum accounts that a field suggests. Typing finds all others. */
const MAX_SUGGESTED = 200
/** Accounts that a message names. */
const MAX_NAMED = 5

export type AccountSearch = Pick<Accounts, 'listing' | 'find' | 'findNames'>

/** A field that names an account. */
export interface AccountField {
  readonly value: string
  readonly suggestions: readonly string[]
}

/** The field with the account of this ID, if any. */
export async function findAccountField(accounts: AccountSearch, id: string | null): Promise<AccountField> {
  const [value, suggestions] = await Promise.all([describeAccount(accounts, id), suggestAccounts(accounts)])
  return { value, suggestions }
}

/** The account of something new. */
export function presentAccountField({ field }: Pick<Fields, 'field'>, account: AccountField): Html {
  const hint = 'Type a part of its name or e-mail address, or its ID.'
  return field({ name: 'account', label: 'Account', required: true, hint, ...account })
}

/** The newest accounts, as `The Linen House (acc_…)`. */
export async function suggestAccounts(accounts: AccountSearch): Promise<string[]> {
  return (await accounts.listing.list({}, { limit: MAX_SUGGESTED })).map(nameOf)
}

/** The account of this ID as the field shows it; an unknown ID stays unchanged. */
async function describeAccount(accounts: AccountSearch, id: string | null): Promise<string> {
  const account = id === null ? null : await accounts.find(id)
  return account === null ? (id ?? '') : nameOf(account)
}

/**
 * The ID of the account that a field names: by ID, by a suggestion, or by a part of its name or e-mail address. Throws
 * `VALIDATION_FAILED` when none or several match.
 */
export async function readAccount(accounts: AccountSearch, text: string): Promise<string> {
  const [, id] = /(?:^|\()(acc_[\w-]+)\)?$/.exec(text) ?? []
  if (id !== undefined) return id
  const found = await accounts.listing.list({ text }, { limit: MAX_NAMED + 1 })
  const exact = found.filter(({ name }) => name.toLowerCase() === text.toLowerCase())
  const [only, ...others] = exact.length === 1 ? exact : found
  if (only !== undefined && others.length === 0) return only.id
  throw invalid(only === undefined ? `No account matches “${text}”.` : describeMatches(text, found))
}

function describeMatches(text: string, found: readonly { name: string; id: string }[]): string {
  const named = found.slice(0, MAX_NAMED).map(nameOf).join(', ')
  return `Several accounts match “${text}”: ${named}${found.length > MAX_NAMED ? ' and more' : ''}. Choose one of them.`
}

function nameOf({ name, id }: { name: string; id: string }): string {
  return `${name} (${id})`
}

function invalid(message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', 'The account is not valid.', { details: [{ path: 'account', message }] })
}
