import { installMissing } from '../../scripts/testing/install.ts'
import type { RequirementName } from '../../scripts/testing/requirements.ts'

/**
 * Fails the test file where what it needs is missing. With `scripts/test --allow-missing` it returns null instead, with one
 * line on the console, and its tests are skipped.
 */
export function failUnlessAllowed(reason: string): null {
  if (process.env.ALLOW_MISSING !== '1') throw new Error(`${reason} Or skip such tests: scripts/test --allow-missing.`)
  console.warn(`${reason} Its tests are skipped.`)
  return null
}

/** Installs what is missing. Returns why tests are skipped, or an empty text; throws as `failUnlessAllowed` does. */
export async function reasonWithout(...names: RequirementName[]): Promise<string> {
  const lines = await installMissing(names)
  if (lines.length === 0) return ''
  failUnlessAllowed(lines.join('\n'))
  return lines.join(' ')
}
