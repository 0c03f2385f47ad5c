import { existsSync } from 'node:fs'
import { findCommand, run } from '../../../scripts/stack/commands.ts'

/**
 * Installs those of Debian's packages whose file is missing; `files` names one of each. Where that cannot be done, the reason why.
 */
export async function installPackages(
  files: Readonly<Record<string, string>>,
  say: (text: string) => void = console.warn,
): Promise<{ readonly unavailable: string } | null> {
  const missing = Object.keys(files).filter((name) => !existsSync(files[name]))
  if (missing.length === 0) return null
  if (process.getuid?.() !== 0) return { unavailable: `${missing.join(', ')} can only be installed by root` }
  if (findCommand(['apt-get']) === undefined)
    return { unavailable: `there is no apt-get to install ${missing.join(', ')}` }
  say(`Installing ${missing.join(', ')} with apt-get …`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  try {
    await run('apt-get', ['update', '-q'], { env })
    await run('apt-get', ['install', '-yq', '--no-install-recommends', ...missing], { env })
    return null
  } catch (cause) {
    return { unavailable: cause instanceof Error ? cause.message : String(cause) }
  }
}
