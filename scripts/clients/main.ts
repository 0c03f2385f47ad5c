import { mkdir, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../stack/session.ts'
import { REQUIREMENTS } from '../testing/requirements.ts'
import { buildClient, packClient } from './build.ts'
import { presentPythonModels } from './python-models.ts'
import { writeSchemas } from './schemas.ts'

const USAGE = `usage: scripts/client <command>

  types                     write api/client/schemas.ts from the OpenAPI document
  python-models             write clients/python/drape_client/models.py from the OpenAPI document
  build [--output FOLDER]   JavaScript and declarations, as a package without dependencies (.cache/client)
  package [--output FOLDER] the same package as an npm archive`

const { positionals, values } = parseArgs({ allowPositionals: true, options: { output: { type: 'string' } } })
const output = resolve(values.output ?? resolve(ROOT, '.cache/client'))

const commands: Readonly<Record<string, () => Promise<string>>> = {
  types: writeSchemas,
  'python-models': async () => {
    const python = REQUIREMENTS.python.find()
    if (python === undefined) throw new Error(`${REQUIREMENTS.python.name} is missing`)
    const path = resolve(ROOT, 'clients/python/drape_client/models.py')
    await writeFile(path, await presentPythonModels(python))
    return path
  },
  build: async () => {
    await mkdir(output, { recursive: true })
    return buildClient(output)
  },
  package: async () => {
    await mkdir(output, { recursive: true })
    return packClient(output)
  },
}

const command = commands[positionals.join(' ')]
if (command) console.log(await command())
else {
  console.error(USAGE)
  process.exitCode = 2
}
