import { execFile, spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { createApiKeys } from '../../api/accounts/api-keys.store.ts'
import { UNRESTRICTED } from '../../api/accounts/restrictions.ts'
import { presentPythonModels } from '../../scripts/clients/python-models.ts'
import { installPythonPackages } from '../../scripts/stack/install-once.ts'
import { REQUIREMENTS } from '../../scripts/testing/requirements.ts'
import { createCaller } from '../support/accepted.ts'
import { commandsOf, runCommands } from '../support/documented-blocks.ts'
import { type Drape, readSmallPerson, startDrape } from '../support/drape.ts'
import { reasonWithout } from '../support/missing.ts'
import { refuseGeneration } from '../support/refused.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const CLIENT = join(ROOT, 'clients/python')
const SAMPLES = join(ROOT, 'scripts/samples')
const run = promisify(execFile)
const { writePython } = await import(new URL('../../api/playground/browser/request-code.js', import.meta.url).href)
const reason = await reasonWithout('python')

const SUPPORTED = ['3.10', '3.11', '3.12', '3.13']
/** pyenv keeps versions where PATH leads only to one of them. */
const PYENV = join(process.env.PYENV_ROOT ?? join(homedir(), '.pyenv'), 'versions')

/** Each interpreter that this machine may have, the required one last. */
const INTERPRETERS = [
  ...SUPPORTED.map((version) => `python${version}`),
  ...globSync('3.*/bin/python3', { cwd: PYENV }).map((path) => join(PYENV, path)),
  REQUIREMENTS.python.find(),
].filter((name) => name !== undefined)
const versionOf = (python: string) =>
  spawnSync(python, ['-c', 'import sys, venv, ensurepip; print(*sys.version_info[:2], sep=".")'], { encoding: 'utf8' })
const found = new Map(
  INTERPRETERS.map((python) => [versionOf(python).stdout?.trim() ?? '', python] as const)
    .filter(([version]) => SUPPORTED.includes(version))
    .toSorted(([a], [b]) => SUPPORTED.indexOf(a) - SUPPORTED.indexOf(b)),
)
const LONG = process.env.LONG_TESTS === '1'
/** A short run tests the oldest version, and installs the newest: what works on both works between them. */
const [OLDEST, NEWEST] = [[...found.keys()].at(0), [...found.keys()].at(-1)]
const missing = SUPPORTED.filter((version) => !found.has(version))
if (missing.length > 0)
  console.warn(`The Python client is not tested on ${missing.join(', ')}, which this machine lacks.`)

describe.skipIf(reason !== '')('the Python client', { timeout: 600_000 }, () => {
  let drape: Drape
  let folder: string
  let env: NodeJS.ProcessEnv

  beforeAll(async () => {
    await writeFile(join(CLIENT, 'drape_client/models.py'), await presentPythonModels(REQUIREMENTS.python.find() ?? ''))
    drape = await startDrape({ credits: 1000 })
    await drape.startWorker()
    folder = await mkdtemp(join(tmpdir(), 'drape-python-'))
    await cp(SAMPLES, join(folder, 'scripts/samples'), { recursive: true })
    await writeFile(join(folder, 'me.jpg'), await readSmallPerson())
    await cp(join(SAMPLES, 'garments/tshirt-mustard.jpg'), join(folder, 'shirt.jpg'))
    const restrictions = { ...UNRESTRICTED, isTest: true }
    const { key: testKey } = await createApiKeys(drape.database).insert(drape.accountId, 'secret', restrictions)
    const caller = await createCaller(drape.database, 10)
    env = {
      ...process.env,
      REFUSED_KEY: await createAccounts(drape.database).insertKey(caller.accountId, 'secret'),
      REFUSED_ID: await refuseGeneration(drape.database, caller),
      UNASKED_ID: await refuseGeneration(drape.database, caller),
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONPATH: CLIENT,
      BASE_URL: drape.api.url,
      API_KEY: drape.apiKey,
      DRAPE_API_KEY: drape.apiKey,
      TEST_API_KEY: testKey,
      PERSON_PHOTO: join(folder, 'me.jpg'),
      GARMENT_PHOTO: join(folder, 'shirt.jpg'),
    }
  })
  afterAll(async () => {
    await drape?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const environment = async (version: string) => {
    const list = join(CLIENT, 'tests/requirements.txt')
    const python = found.get(version) ?? ''
    return join(await installPythonPackages(`python-client-${version}`, list, python), 'bin/python')
  }

  it.for([...found.keys()])('agrees with the service on Python %s', async (version, { skip }) => {
    skip(!LONG && version !== OLDEST)
    const args = ['-W', 'error::DeprecationWarning', '-m', 'unittest', 'discover', '-s', 'tests']
    const done = run(await environment(version), args, { cwd: CLIENT, env })
    const { stderr } = await done.catch((error) => Promise.reject(new Error(error.stderr)))
    expect(stderr).toMatch(/Ran \d\d tests[\s\S]*\nOK\n$/)
  })

  it.each([
    ['README.md', /^https?:\/\/[\w.:]+\/objects\/.*expires/],
    ['docs/start/api.md', /^https?:\/\/[\w.:]+\/objects\/.*expires/],
    ['clients/python/README.md', /COMPLETED [\s\S]*gen_\S+ http/],
  ])('does what %s shows', async (page, expected) => {
    const [, snippet = ''] = /^```python\n(.*?)^```$/ms.exec(readFileSync(join(ROOT, page), 'utf8')) ?? []
    expect(snippet).toContain('http://localhost:8080')
    await writeFile(join(folder, 'shown.py'), snippet.replace('http://localhost:8080', drape.api.url))
    const [version] = [...found.keys()].slice(-1)
    const { stdout } = await run(await environment(version), ['shown.py', 'me.jpg', 'shirt.jpg'], { cwd: folder, env })
    expect(stdout).toMatch(expected)
  })

  it.for([...found])('is installed from a clone on Python %s', async ([version, python], { skip }) => {
    skip(!LONG && version !== NEWEST)
    const installed = join(folder, `installed-${version}`)
    // Without a pip of its own, which takes longer to install than the client.
    await run(python, ['-m', 'venv', '--without-pip', installed])
    const commands = commandsOf('clients/python/README.md', 'drape-client')
    const PATH = `${dirname(await environment(version))}:${process.env.PATH}`
    const PIP_PYTHON = join(installed, 'bin/python')
    await runCommands(commands, { folder: ROOT, env: { ...process.env, PATH, PIP_PYTHON } })
    const program = 'import drape_client, os; print(os.path.dirname(drape_client.__file__)); drape_client.AsyncDrape'
    const { stdout } = await run(join(installed, 'bin/python'), ['-c', program], { cwd: folder })
    expect(stdout).toContain(installed)
  })

  it('does what the playground shows', async () => {
    const program = writePython({
      origin: drape.api.url,
      photo: { name: 'me.jpg' },
      products: [{ image: { name: 'shirt.jpg' }, title: `Ada's "best" \\ T-shirt`, category: 'tops' }],
      answer: null,
      options: { format: 'png', fallback: false, keepForDays: 1, crop: false },
    })
    await writeFile(join(folder, 'played.py'), program)
    const [version] = [...found.keys()].slice(-1)
    const { stdout } = await run(await environment(version), ['played.py'], { cwd: folder, env })
    expect(stdout).toMatch(/COMPLETED [\s\S]*gen_\S+ http\S+\.png/)
  })

  it('has the version of the service', () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
    expect(readFileSync(join(CLIENT, 'pyproject.toml'), 'utf8')).toContain(`version = "${version}"`)
  })
})
