import { installMissing } from '../../scripts/testing/install.ts'
import type { RequirementName } from '../../scripts/testing/requirements.ts'

/**
 * Fails the test file if a requirement is missing. With `scripts/test --allow-missing` it returns null instead, prints one
 * line, and the tests are skipped.
 */
export function failUnlessAllowed(reason: string): null {
  if (process.env.ALLOW_MISSING !== '1') throw new Error(`${reason} Or skip such tests: scripts/test --allow-missing.`)
  console.warn(`${reason} Its tests are skipped.`)
  return null
}

/** Installs missing requirements. Returns why tests are skipped, or an empty text; throws like `failUnlessAllowed`. */
export async function reasonWithout(...names: RequirementName[]): Promise<string> {
  const lines = await installMissing(names)
  if (lines.length === 0) return ''
  failUnlessAllowed(lines.join('\n'))
  return lines.join(' ')
}
