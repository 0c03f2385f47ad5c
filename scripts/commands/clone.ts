import { type FreeCommand, inClone } from './command.ts'
import { argument, type Options, option, required } from './options.ts'
import { secretFileOption } from './secret-options.ts'
import { explained, readService } from './service.ts'

/** Commands whose modules load large dependencies; some images do not contain them. */
export const cloneCommands: Readonly<Record<string, FreeCommand>> = {
  'products import': {
    summary: 'send a catalogue in batches of 500; after an interruption the same command continues',
    argument: argument('<file>', 'catalogue: .csv, .ndjson or .json'),
    options: [
      secretFileOption('key', 'secret key of the account; default: DRAPE_API_KEY'),
      option('--report <file>', 'file for failed products (default: FILE.failures.ndjson)'),
      option('--wait-images', 'wait for the images and report those that fail'),
    ],
    run: importCatalogue,
  },
  mcp: {
    summary: 'serve tools for assistants (MCP) on standard input and output, with the key DRAPE_API_KEY',
    run: async () => {
      const { serveMcp } = await inClone('mcp', () => import('./serve-mcp.ts'))
      await serveMcp(process.env)
      return undefined
    },
  },
}

/** Exits with 1 if products failed. */
async function importCatalogue({ file, key, report, 'wait-images': waitImages }: Options) {
  const service = readService(process.env, key)
  const { importProducts } = await import('./products/import-products.ts')
  const options = { ...service, path: required(file, 'file'), report, waitsForImages: waitImages !== undefined }
  const counts = await explained(importProducts(options), ' Run the command again to continue.')
  if (Number(counts.failed) > 0) process.exitCode = 1
  return counts
}
