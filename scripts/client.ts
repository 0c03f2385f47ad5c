import { mkdir, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildClient, packClient } from './clients/build.ts'
import { presentSchemas } from './clients/schemas.ts'
import { ROOT } from './stack/session.ts'

const USAGE = `usage: scripts/client <command>

  types                     write api/client/schemas.ts from the OpenAPI document
  build [--output FOLDER]   JavaScript and declarations, as a package without dependencies (.cache/client)
  package [--output FOLDER] the same package as an npm archive`

const { positionals, values } = parseArgs({ allowPositionals: true, options: { output: { type: 'string' } } })
const output = resolve(values.output ?? resolve(ROOT, '.cache/client'))

const commands: Readonly<Record<string, () => Promise<string>>> = {
  types: async () => {
    const path = resolve(ROOT, 'api/client/schemas.ts')
    await writeFile(path, await presentSchemas())
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
