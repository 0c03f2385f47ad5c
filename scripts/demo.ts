import { openAsBlob } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, extname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from './stack/commands.ts'
import { aborted, ROOT, runSession, say } from './stack/session.ts'
import type { Stack } from './stack/stack.ts'

const PERSON = join(ROOT, 'scripts/samples/persons/down-half-teal.jpg')
const GARMENT = join(ROOT, 'scripts/samples/garments/tshirt-navy.jpg')

interface Account {
  readonly id: string
  readonly apiKey: string
}

/** What the API says of a generation. */
interface Generation {
  readonly generationId: string
  readonly status: 'PENDING' | 'PROCESSING' | 'COMPLETED' | 'FAILED'
  readonly resultImageUrl?: string
  readonly errorCode?: string
  readonly errorMessage?: string
}

const once = process.argv.includes('--once')

await runSession(
  async (stack, interrupted) => {
    const { id, apiKey } = await createAccount(stack)
    await tryOn({ stack, apiKey, interrupted })
    if (once) return
    tellEnvironment(stack, { id, apiKey })
    say('\nDrape stays up for more. Ctrl-C ends it.')
    await aborted(interrupted)
  },
  ['--once'],
)

async function createAccount({ env }: Stack): Promise<Account> {
  const account = ['account', 'create', '--name', 'Demo', '--credits', '100', '--json']
  return JSON.parse(await run(process.execPath, ['scripts/drape.ts', ...account], { cwd: ROOT, env }))
}

async function tryOn({
  stack,
  apiKey,
  interrupted,
}: {
  stack: Stack
  apiKey: string
  interrupted: AbortSignal
}): Promise<void> {
  const { report, dataFolder } = stack
  say(`Trying ${basename(GARMENT)} on ${basename(PERSON)} …`)
  const startedAt = performance.now()
  const accepted = await requestTryOn(report.url, apiKey)
  const finished = await waitForResult({ url: report.url, apiKey, id: accepted.generationId, interrupted })
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
}

/** What the commands of the pages need in another shell: the caller's variables, and those of the command line. */
function tellEnvironment({ report, env }: Stack, { id, apiKey }: Account): void {
  process.stdout.write(`
For the commands of the README, in another shell:

  export DRAPE=${report.url} KEY=${apiKey} ACCOUNT=${id}
  export DATABASE_URL=${env.DATABASE_URL} STORAGE_URL=${env.STORAGE_URL}
  export SECRETS_KEY=${env.SECRETS_KEY ?? ''}

In a browser: ${report.url}/playground
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
    if (generation.status === 'COMPLETED') return generation
    if (generation.status === 'FAILED') {
      throw new Error(`The try-on failed: ${generation.errorCode ?? ''} ${generation.errorMessage}`)
    }
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
