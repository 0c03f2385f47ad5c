import { spawn } from 'node:child_process'
import { existsSync, openAsBlob } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { registerProducts } from '../samples/shop/products.ts'
import { type DemoShop, type ShopOptions, startShop } from '../samples/shop/server.ts'
import { findCommand } from './commands.ts'
import {
  type Account,
  findAccount,
  findOperator,
  findStorefront,
  keep,
  type Operator,
  readKept,
  type Storefront,
} from './demo-records.ts'
import { createPorts } from './ports.ts'
import { aborted, ROOT, requireKnownArguments, runSession, say } from './session.ts'
import { readSettings } from './settings.ts'
import type { Stack } from './stack.ts'

const PERSON = join(ROOT, 'scripts/samples/persons/garden-man.jpg')
const GARMENT = join(ROOT, 'scripts/samples/garments/tshirt-navy.jpg')

/** All that the demo prints. */
interface Demo {
  readonly account: Account
  readonly storefront: Storefront
  readonly operator: Operator | null
  readonly shopUrl: string
}

/** The result of an earlier start. */
interface Kept {
  readonly path: string
}

/** The API's view of a generation. */
interface Generation {
  readonly generationId: string
  readonly status: 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'FAILED'
  readonly resultImageUrl?: string
  readonly errorCode?: string
  readonly errorMessage?: string
}

const KNOWN = ['--once', '--open']
const [once, open] = KNOWN.map((option) => process.argv.includes(option))
/** What the demo of this data folder prints, while it runs. */
const STEPS = join(readSettings(process.env, ROOT).dataFolder, 'demo', 'running.json')

requireKnownArguments(KNOWN)
if (once || !(await presentRunning())) await runSession(once ? runOnce : runDemo, { known: KNOWN, dashboard: !once })

async function runOnce(stack: Stack, interrupted: AbortSignal): Promise<void> {
  const { apiKey } = await findAccount(stack)
  const failure = await tryOn({ stack, apiKey, interrupted })
  if (failure) throw new Error(failure)
}

async function runDemo(stack: Stack, interrupted: AbortSignal): Promise<void> {
  say('Preparing the account, the shop and the sign-in …')
  const account = await findAccount(stack)
  const [storefront, operator] = await Promise.all([findStorefront(stack, account), findOperator(stack)])
  const apiUrl = stack.report.url
  await using shop = await startSampleShop({ apiUrl, ...account, ...storefront })
  await presentNextSteps(stack, { account, storefront, operator, shopUrl: shop.url })
  if (open) openPlayground(apiUrl, account.apiKey)
  await registerProducts({ apiUrl, apiKey: account.apiKey })
  const result = await readKept<Kept>(stack, 'result')
  const failure = result && existsSync(result.path) ? null : await tryOn({ stack, apiKey: account.apiKey, interrupted })
  if (failure) say(`\n${failure}`)
  else if (result) process.stdout.write(`\nResult:  ${result.path}\n`)
  say('\nDrape keeps running. Press Ctrl-C to stop it.')
  await aborted(interrupted)
  await rm(STEPS)
}

/** Prints what the demo that runs with the same data has printed; false without one. */
async function presentRunning(): Promise<boolean> {
  const { url, apiKey, text } = await readFile(STEPS, 'utf8').then(JSON.parse, () => ({}))
  const headers = { 'x-api-key': apiKey }
  const answer = url && (await fetch(`${url}/tryon/v1/account`, { headers }).catch(() => null))
  if (!answer?.ok) return false
  say('The demo already runs.')
  process.stdout.write(text)
  if (open) openPlayground(url, apiKey)
  return true
}

/** The page takes the key out of its address, on this machine only. */
function openPlayground(url: string, apiKey: string): void {
  const opener = findCommand(['xdg-open', 'open'])
  if (opener === undefined) {
    say(`No program here opens a browser: open ${url}/playground`)
    return
  }
  const child = spawn(opener, [`${url}/playground#key=${apiKey}`], { stdio: 'ignore', detached: true })
  child.on('error', ({ message }) => say(`${opener}: ${message}`))
  child.unref()
}

/** Starts the sample shop on its usual port, or on a free one. */
async function startSampleShop(options: Omit<ShopOptions, 'customerId' | 'port'>): Promise<DemoShop & AsyncDisposable> {
  const ports = createPorts()
  const given = process.env.SHOP_PORT
  const { port, release } = given ? await ports.take(Number(given)) : await ports.takeFree(8090)
  await release()
  const shop = await startShop({ ...options, customerId: '', port })
  const stop = async () => {
    await shop.stop()
    ports.giveBack()
  }
  return { ...shop, stop, [Symbol.asyncDispose]: stop }
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
  await keep<Kept>(stack, 'result', { path })
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

/** Prints the URLs to open in a browser, and the variables for the commands of the docs in another shell. */
async function presentNextSteps(
  { report, env }: Stack,
  { account: { id, apiKey, publishableKey }, storefront: { domain }, operator, shopUrl }: Demo,
): Promise<void> {
  const text = `
In a browser:

  ${report.url}/playground   enter the key ${apiKey}, choose a person and a product, press "Try it on"
  ${shopUrl}/products/101   a product of the sample shop: press "Try it on"
  ${report.dashboardUrl}              dashboard for operators${operator ? `; sign in as ${operator.email} with the password ${operator.password}` : ''}
  ${report.url}/docs         reference of the API

For the commands of the README, in another shell:

  export DRAPE_URL=${report.url} DRAPE_API_KEY=${apiKey} ACCOUNT=${id}
  export DATABASE_URL=${env.DATABASE_URL} REDIS_URL=${env.REDIS_URL}
  export STORAGE_URL=${env.STORAGE_URL}
  export SECRETS_KEY=${env.SECRETS_KEY ?? ''} SIGNING_SECRET=${env.SIGNING_SECRET}

For the calls of shoppers, with a publishable key or as the shop that X-Drape-Shop names (only on a development service):

  export PUBLISHABLE_KEY=${publishableKey} SHOP=${domain}
  curl -s ${report.url}/public/check-credits -H 'X-Drape-Shop: ${domain}'
`
  await writeFile(STEPS, JSON.stringify({ url: report.url, apiKey, text }), { mode: 0o600 })
  process.stdout.write(text)
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
