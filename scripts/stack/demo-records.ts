import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runDrape } from './session.ts'
import type { Stack } from './stack.ts'

export interface Account {
  readonly id: string
  readonly apiKey: string
  readonly publishableKey: string
}

/** The shops of an account. */
export interface Storefront {
  readonly accountId: string
  /** Of a shop that its name alone authenticates. */
  readonly domain: string
  /** The sample shop, which signs its requests. */
  readonly site: string
  readonly secret: string
}

/** Operator of the dashboard. */
export interface Operator {
  readonly email: string
  readonly password: string
}

const CREDITS = ['--credits', '100']
const EMAIL = 'demo@example.com'
const POLICY = ['--policy-version', '2026-11', '--texts', 'scripts/samples/shop/consent.json']

/** The account of an earlier run in the same data folder, with at least 10 credits, or a new one. */
export async function findAccount(stack: Stack): Promise<Account> {
  const kept = await readKept<Account>(stack, 'account')
  const headers = { 'x-api-key': kept?.apiKey ?? '' }
  const answer = kept ? await fetch(`${stack.report.url}/tryon/v1/account`, { headers }) : null
  if (!kept || !answer?.ok)
    return keep(stack, 'account', await runDrape(stack, 'account', 'create', '--name', 'Demo', ...CREDITS))
  const { creditBalance } = (await answer.json()) as { creditBalance: number }
  if (creditBalance < 10) await runDrape(stack, 'credits', 'add', '--account', kept.id, ...CREDITS)
  return kept
}

/** The shops of an earlier run with this account, or new ones. */
export async function findStorefront(stack: Stack, { id: accountId }: Account): Promise<Storefront> {
  const kept = await readKept<Storefront>(stack, 'storefront')
  if (kept?.accountId === accountId) return kept
  const owner = ['--account', accountId]
  const [domain, site] = ['demo', 'halden'].map((name) => `${name}-${accountId.slice(-6)}.example`)
  const signing = ['--platform', 'plugin', '--domain', site, '--name', 'Halden']
  const [{ secret }] = await Promise.all([
    runDrape<{ secret: string }>(stack, 'shop', 'create', ...owner, ...signing),
    runDrape(stack, 'shop', 'create', ...owner, '--platform', 'development', '--domain', domain),
  ])
  await runDrape(stack, 'policy', 'publish', '--shop', site, ...POLICY)
  return keep(stack, 'storefront', { accountId, domain, site, secret })
}

/** The operator of an earlier run in the same data folder, or a new one; null with an external database. */
export async function findOperator(stack: Pick<Stack, 'env' | 'dataFolder'>): Promise<Operator | null> {
  if (process.env.DATABASE_URL) return null
  const kept = await readKept<Operator>(stack, 'operator')
  if (kept) return kept
  const { operators } = await runDrape<{ operators: { email: string }[] }>(stack, 'operator', 'list')
  const isKnown = operators.some(({ email }) => email === EMAIL)
  const words = isKnown ? ['update', '--reset-password'] : ['create']
  const { password } = await runDrape<Operator>(stack, 'operator', ...words, '--email', EMAIL)
  return keep(stack, 'operator', { email: EMAIL, password })
}

export async function readKept<T>({ dataFolder }: Pick<Stack, 'dataFolder'>, name: string): Promise<T | null> {
  return readFile(join(dataFolder, 'demo', `${name}.json`), 'utf8')
    .then(JSON.parse)
    .catch(() => null)
}

export async function keep<T>({ dataFolder }: Pick<Stack, 'dataFolder'>, name: string, value: T): Promise<T> {
  await mkdir(join(dataFolder, 'demo'), { recursive: true })
  await writeFile(join(dataFolder, 'demo', `${name}.json`), JSON.stringify(value), { mode: 0o600 })
  return value
}
