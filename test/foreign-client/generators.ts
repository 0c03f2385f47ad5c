import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../../scripts/stack/commands.ts'
import { installNpmPackages, installPythonPackages } from '../../scripts/stack/install-once.ts'
import { ROOT } from '../../scripts/stack/session.ts'

const HERE = import.meta.dirname

/** A program over a generated client: the folder that it runs in, and what the generator or the compiler objects to. */
export interface GeneratedClient {
  readonly folder: string
  readonly complaints: readonly string[]
  remove(): void
}

/** The client of openapi-typescript with openapi-fetch in `schema.d.ts` beside `flow.ts`, after the compiler has checked both. */
export async function generateTypescriptClient(documentUrl: string): Promise<GeneratedClient> {
  // They need an older compiler than ours.
  const packages = await installNpmPackages('foreign-client/typescript', join(HERE, 'typescript'))
  const client = makeFolder(packages)
  const { folder } = client
  for (const name of ['flow.ts', 'tsconfig.json']) cpSync(join(HERE, 'typescript', name), join(folder, name))
  const program = (name: string) => join(packages, 'node_modules/.bin', name)
  const document = await saveDocument(documentUrl, folder)
  await run(program('openapi-typescript'), [document, '-o', join(folder, 'schema.d.ts')])
  const types = join(ROOT, 'node_modules/@types')
  const objection = await run(program('tsc'), ['--project', folder, '--typeRoots', types]).then(
    () => [],
    (error: Error) => [error.message],
  )
  return { ...client, complaints: objection }
}

/** The client of openapi-python-client in the package `drape_client` beside `flow.py`. */
export async function generatePythonClient(documentUrl: string, python: string): Promise<PythonClient> {
  const environment = await installPythonGenerator(python)
  const client = makeFolder(environment)
  const { folder } = client
  for (const name of ['flow.py', 'config.yaml']) cpSync(join(HERE, 'generated-python', name), join(folder, name))
  const document = await saveDocument(documentUrl, folder)
  const output = await run(join(environment, 'bin/openapi-python-client'), [
    ...['generate', '--path', document, '--config', join(folder, 'config.yaml')],
    ...['--meta', 'none', '--output-path', join(folder, 'drape_client')],
  ])
  const complaints = output.split(/^(?=WARNING|ERROR)/m).filter((part) => /^(WARNING|ERROR)/.test(part))
  return { ...client, complaints, python: join(environment, 'bin/python') }
}

export interface PythonClient extends GeneratedClient {
  /** The interpreter that has what the client needs. */
  readonly python: string
}

/** Within the folder of the packages, so that programs in it find them. */
function makeFolder(packages: string): Omit<GeneratedClient, 'complaints'> {
  const folder = mkdtempSync(join(packages, 'flow-'))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

async function saveDocument(url: string, folder: string): Promise<string> {
  const path = join(folder, 'openapi.json')
  writeFileSync(path, await (await fetch(url)).text())
  return path
}

/** A folder with a virtual environment that has openapi-python-client. */
function installPythonGenerator(python: string): Promise<string> {
  return installPythonPackages('foreign-client/python', join(HERE, 'generated-python/requirements.txt'), python)
}
