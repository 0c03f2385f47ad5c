import { type FreeCommand, inClone } from './command.ts'
import { argument, mandatory, type Options, option, required } from './options.ts'
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
  simulate: {
    summary: 'simulate a ScalingPolicy or WorkerPool',
    options: [
      mandatory('--policy <file>', 'YAML file with the policy'),
      option('--trace <file>', 'arrivals of jobs, lines of "second,jobs"; default: generated arrivals'),
      option('--jobs-per-minute <n>', 'generated arrivals (default: 60)'),
      option('--minutes <n>', 'minutes of arrivals (default: 60)'),
      option('--seed <n>', 'seed of the arrivals (default: 1)'),
      option('--seconds-per-job <n>', 'duration of a job (default: 3)'),
      option('--start-seconds <n>', 'duration of a worker start (default: 30)'),
      option('--starts-at <time>', 'start of the simulation (default: 2026-01-05T08:00:00Z)'),
    ],
    run: async (options) => {
      const { simulateCommand } = await inClone('simulate', () => import('./simulate.ts'))
      return simulateCommand(options)
    },
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
