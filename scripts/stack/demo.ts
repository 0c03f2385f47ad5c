import { openAsBlob } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { aborted, ROOT, runDrape, runSession, say } from './session.ts'
import type { Stack } from './stack.ts'

const PERSON = join(ROOT, 'scripts/samples/persons/down-half-teal.jpg')
const GARMENT = join(ROOT, 'scripts/samples/garments/tshirt-navy.jpg')

interface Account {
  readonly id: string
  readonly apiKey: string
}

/** What the calls of shoppers need. */
interface Storefront {
  readonly accountId: string
  readonly publishableKey: string
  readonly domain: string
}

/** Operator of the dashboard. */
interface Operator {
  readonly email: string
  readonly password: string
}

/** The API's view of a generation. */
interface Generation {
  readonly generationId: string
  readonly status: 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'FAILED'
  readonly resultImageUrl?: string
  readonly errorCode?: string
  readonly errorMessage?: string
}

const CREDITS = ['--credits', '100']
const EMAIL = 'demo@example.com'

const once = process.argv.includes('--once')

await runSession(
  async (stack, interrupted) => {
    const account = await findAccount(stack)
    const failure = await tryOn({ stack, apiKey: account.apiKey, interrupted })
    if (once && failure) throw new Error(failure)
    if (once) return
    if (failure) say(`\n${failure}`)
    presentNextSteps(stack, {
      account,
      storefront: await findStorefront(stack, account),
      operator: await findOperator(stack),
    })
    say('\nDrape keeps running. Press Ctrl-C to stop it.')
    await aborted(interrupted)
  },
  { known: ['--once'], dashboard: !once },
)

/** The account of an earlier run in the same data folder, with at least 10 credits, or a new one. */
async function findAccount(stack: Stack): Promise<Account> {
  const kept = await readKept<Account>(stack, 'account')
  const headers = { 'x-api-key': kept?.apiKey ?? '' }
  const answer = kept && (await fetch(`${stack.report.url}/tryon/v1/account`, { headers }))
  if (!kept || !answer?.ok)
    return keep(stack, 'account', await runDrape(stack, 'account', 'create', '--name', 'Demo', ...CREDITS))
  const { creditBalance } = (await answer.json()) as { creditBalance: number }
  if (creditBalance < 10) await runDrape(stack, 'credits', 'add', '--account', kept.id, ...CREDITS)
  return kept
}

/** The publishable key and the shop of an earlier run with this account, or new ones. */
async function findStorefront(stack: Stack, { id: accountId }: Account): Promise<Storefront> {
  const kept = await readKept<Storefront>(stack, 'storefront')
  if (kept?.accountId === accountId) return kept
  const owner = ['--account', accountId]
  const { key } = await runDrape<{ key: string }>(stack, 'key', 'create', ...owner, '--kind', 'publishable')
  const domain = `demo-${accountId.slice(-6)}.example`
  await runDrape(stack, 'shop', 'create', ...owner, '--platform', 'development', '--domain', domain)
  return keep(stack, 'storefront', { accountId, publishableKey: key, domain })
}

/** The operator of an earlier run in the same data folder, or a new one; null with an external database. */
async function findOperator(stack: Stack): Promise<Operator | null> {
  if (process.env.DATABASE_URL) return null
  const kept = await readKept<Operator>(stack, 'operator')
  if (kept) return kept
  const { operators } = await runDrape<{ operators: { email: string }[] }>(stack, 'operator', 'list')
  const verb = operators.some(({ email }) => email === EMAIL) ? 'password' : 'create'
  const { password } = await runDrape<Operator>(stack, 'operator', verb, '--email', EMAIL)
  return keep(stack, 'operator', { email: EMAIL, password })
}

async function readKept<T>({ dataFolder }: Stack, name: string): Promise<T | null> {
  return readFile(join(dataFolder, 'demo', `${name}.json`), 'utf8')
    .then(JSON.parse)
    .catch(() => null)
}

async function keep<T>({ dataFolder }: Stack, name: string, value: T): Promise<T> {
  await mkdir(join(dataFolder, 'demo'), { recursive: true })
  await writeFile(join(dataFolder, 'demo', `${name}.json`), JSON.stringify(value), { mode: 0o600 })
  return value
}

/** Resolves to the reason if the try-on fails, for example because of the safety level of the account. */
async function tryOn({
  stack,
  apiKey,
  interrupted,
}: {
  stack: Stack
  apiKey: string
  interrupted: AbortSignal
}): Promise<string | null> {
  const { report, dataFolder } = stack
  say(`Trying ${basename(GARMENT)} on ${basename(PERSON)} …`)
  const startedAt = performance.now()
  const accepted = await requestTryOn(report.url, apiKey)
  const finished = await waitForResult({ url: report.url, apiKey, id: accepted.generationId, interrupted })
  if (finished.status === 'FAILED') return `The try-on failed: ${finished.errorCode ?? ''} ${finished.errorMessage}`
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const path = await download(finished, join(dataFolder, 'demo'))
  process.stdout.write(`
Result:  ${path}
URL:     ${finished.resultImageUrl}
Time:    ${seconds} s

Try it yourself:

  curl -s ${report.url}/tryon/v1/try-on -H 'x-api-key: ${apiKey}' \\
    -F 'data=${JSON.stringify(tryOnBody())}' \\
    -F person=@'${PERSON}' -F garment=@'${GARMENT}'

  curl -s ${report.url}/tryon/v1/generations/${finished.generationId} -H 'x-api-key: ${apiKey}'
`)
  return null
}

/** The variables for the commands of the docs in another shell, and the URLs to open in a browser. */
function presentNextSteps(
  { report, env }: Stack,
  {
    account: { id, apiKey },
    storefront: { publishableKey, domain },
    operator,
  }: { account: Account; storefront: Storefront; operator: Operator | null },
): void {
  process.stdout.write(`
For the commands of the README, in another shell:

  export DRAPE=${report.url} KEY=${apiKey} ACCOUNT=${id}
  export DATABASE_URL=${env.DATABASE_URL} REDIS_URL=${env.REDIS_URL}
  export STORAGE_URL=${env.STORAGE_URL}
  export SECRETS_KEY=${env.SECRETS_KEY ?? ''} SIGNING_SECRET=${env.SIGNING_SECRET}

For the calls of shoppers, with a publishable key or as the shop that X-Drape-Shop names (only on a development service):

  export PUBLISHABLE_KEY=${publishableKey} SHOP=${domain}
  curl -s ${report.url}/public/check-credits -H 'X-Drape-Shop: ${domain}'

In a browser:

  ${report.url}/playground   enter the key ${apiKey}, choose a person and a product, press "Try it on"
  ${report.url}/docs         reference of the API
  ${report.dashboardUrl}              dashboard for operators${operator ? `; sign in as ${operator.email} with the password ${operator.password}` : ''}
`)
}

function tryOnBody() {
  return {
    products: [{ title: 'T-shirt', images: [{ source: { fileKey: 'garment' } }] }],
    person: { image: { source: { fileKey: 'person' } } },
  }
}

async function requestTryOn(url: string, apiKey: string): Promise<Generation> {
  const form = new FormData()
  form.set('data', JSON.stringify(tryOnBody()))
  form.set('person', await openAsBlob(PERSON, { type: 'image/jpeg' }), basename(PERSON))
  form.set('garment', await openAsBlob(GARMENT, { type: 'image/jpeg' }), basename(GARMENT))
  return request(`${url}/tryon/v1/try-on`, { method: 'POST', body: form, headers: { 'x-api-key': apiKey } })
}

async function waitForResult(options: {
  url: string
  apiKey: string
  id: string
  interrupted: AbortSignal
}): Promise<Generation> {
  const { url, apiKey, id, interrupted } = options
  for (;;) {
    const generation = await request(`${url}/tryon/v1/generations/${id}`, { headers: { 'x-api-key': apiKey } })
    if (generation.status === 'COMPLETED' || generation.status === 'FAILED') return generation
    await sleep(200, undefined, { signal: interrupted })
  }
}

async function request(url: string, init: RequestInit): Promise<Generation> {
  const answer = await fetch(url, init)
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${text}`)
  return JSON.parse(text)
}

/** Saves the result beside the stack's data and returns its path. */
async function download({ resultImageUrl, generationId }: Generation, folder: string): Promise<string> {
  if (!resultImageUrl) throw new Error('The result has no image')
  const answer = await fetch(resultImageUrl)
  if (!answer.ok) throw new Error(`${resultImageUrl} answered ${answer.status}`)
  await mkdir(folder, { recursive: true })
  const path = join(folder, generationId + (extname(new URL(resultImageUrl).pathname) || '.jpg'))
  await writeFile(path, Buffer.from(await answer.arrayBuffer()))
  return path
}
