import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createDrapeClient, DrapeGenerationError, readPicture } from '../../api/client/node.ts'
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

const PERSON = join(ROOT, 'scripts/samples/persons/office-man.jpg')
const GARMENT = join(ROOT, 'scripts/samples/garments/tshirt-mustard.jpg')
const TITLE = 'T-shirt'
/** The same call for curl. */
const TRY_ON = {
  products: [{ title: TITLE, images: [{ source: { fileKey: 'garment' } }] }],
  person: { image: { source: { fileKey: 'person' } } },
}

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

const KNOWN = ['--once', '--open']
const [once, open] = KNOWN.map((option) => process.argv.includes(option))
/** What the demo of this data folder prints, while it runs. */
const STEPS = join(readSettings(process.env, ROOT).dataFolder, 'demo', 'running.json')

requireKnownArguments(KNOWN)
if (once || !(await presentRunning())) await runSession(once ? runOnce : runDemo, { known: KNOWN, dashboard: !once })

async function runOnce(stack: Stack, interrupted: AbortSignal): Promise<void> {
  const { apiKey } = await findAccount(stack)
  const failure = await tryOn(stack, { apiKey, interrupted })
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
  const failure = result && existsSync(result.path) ? null : await tryOn(stack, { apiKey: account.apiKey, interrupted })
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
async function tryOn(
  stack: Stack,
  { apiKey, interrupted: signal }: { apiKey: string; interrupted: AbortSignal },
): Promise<string | null> {
  const { report, dataFolder } = stack
  say(`Trying ${basename(GARMENT)} on ${basename(PERSON)} …`)
  const startedAt = performance.now()
  const drape = createDrapeClient({ url: report.url, apiKey })
  const [person, garment] = await Promise.all([PERSON, GARMENT].map(readPicture))
  const call = drape.tryOn({ person, product: { title: TITLE, images: [garment] } }, { signal })
  const finished = await call.wait().catch((error) => {
    if (error instanceof DrapeGenerationError) return error
    throw error
  })
  if (finished instanceof Error) return `The try-on failed: ${finished.code ?? ''} ${finished.message}`
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const { generationId, resultImageUrl } = finished
  const image = await drape.generations.download(generationId, { signal })
  if (image === null) throw new Error('The result has no image')
  const path = join(dataFolder, 'demo', `${generationId}.jpg`)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, Buffer.from(await image.arrayBuffer()))
  await keep<Kept>(stack, 'result', { path })
  process.stdout.write(`
Result:  ${path}
URL:     ${resultImageUrl}
Time:    ${seconds} s

Try it yourself:

  curl -s ${report.url}/tryon/v1/try-on -H 'x-api-key: ${apiKey}' \\
    -F 'data=${JSON.stringify(TRY_ON)}' \\
    -F person=@'${PERSON}' -F garment=@'${GARMENT}'

  curl -s ${report.url}/tryon/v1/generations/${generationId} -H 'x-api-key: ${apiKey}'
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
