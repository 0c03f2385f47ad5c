import { join } from 'node:path'
import { findGoTool } from '../../scripts/stack/go-tool.ts'

const FOLDER = join(import.meta.dirname, 'prometheus')

/**
 * The path of a program of Prometheus, built from its Go module once; null, with one line on the console, where it cannot be
 * built. In continuous integration that is a failure.
 */
export async function findPrometheusProgram(name: 'prometheus' | 'promtool'): Promise<string | null> {
  const found = await findGoTool({
    name,
    package: `github.com/prometheus/prometheus/cmd/${name}`,
    source: { folder: FOLDER },
    // No cloud has to be asked where programs run.
    tags: ['remove_all_sd'],
  })
  if (typeof found === 'string') return found
  const reason = `No ${name}: ${found.unavailable}`
  if (process.env.CI === 'true') throw new Error(reason)
  console.warn(`${reason}. Its tests are skipped.`)
  return null
}
