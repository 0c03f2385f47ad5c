import { join } from 'node:path'
import { findGoTool } from '../../scripts/stack/go-tool.ts'
import { failUnlessAllowed } from '../support/missing.ts'

const FOLDER = join(import.meta.dirname, 'prometheus')

/** The path of a program of Prometheus, built from its Go module once. Fails or returns null like `failUnlessAllowed`. */
export async function findPrometheusProgram(name: 'prometheus' | 'promtool'): Promise<string | null> {
  const found = await findGoTool({
    name,
    package: `github.com/prometheus/prometheus/cmd/${name}`,
    source: { folder: FOLDER },
    // Excludes service discovery, which the tests do not use.
    tags: ['remove_all_sd'],
  })
  if (typeof found === 'string') return found
  return failUnlessAllowed(`No ${name}: ${found.unavailable}.`)
}
