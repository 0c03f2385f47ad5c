import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { findCommand, run } from '../stack/commands.ts'
import { takeLock } from '../stack/lock.ts'
import { ROOT, say } from '../stack/session.ts'
import { REQUIREMENTS, type Requirement, type RequirementName } from './requirements.ts'

/**
 * Installs missing requirements with apt-get, if this runs as root on Debian, and returns one line per requirement that is
 * still missing. Concurrent calls, also of other processes, are serialised.
 */
export async function installMissing(names: readonly RequirementName[]): Promise<string[]> {
  const all = names.map((name): Requirement => REQUIREMENTS[name])
  const missing = all.filter(({ find }) => find() === undefined)
  if (missing.length === 0) return []
  const isPossible = process.getuid?.() === 0 && findCommand(['apt-get']) !== undefined
  const reason = isPossible ? await install(missing) : ''
  return missing.filter(({ find }) => find() === undefined).map((requirement) => describeMissing(requirement, reason))
}

/** One line: the missing requirement, and how to install it. */
function describeMissing({ name, packages, otherwise }: Requirement, reason = ''): string {
  const plural = packages.length > 1 ? 's' : ''
  const ways = [
    ...(packages.length > 0 ? [`install ${packages.join(' and ')} (Debian's package name${plural})`] : []),
    ...(otherwise ? [otherwise] : []),
  ]
  return `${name} is missing: ${ways.join(', or ')}.${reason && ` apt-get: ${reason}`}`
}

/** The last line of apt-get's output if it failed; empty on success. */
async function install(missing: readonly Requirement[]): Promise<string> {
  const folder = join(ROOT, '.cache')
  mkdirSync(folder, { recursive: true })
  const lock = await takeLock(join(folder, 'apt-get.lock'))
  try {
    const packages = missing.filter(({ find }) => find() === undefined).flatMap((requirement) => requirement.packages)
    if (packages.length === 0) return ''
    say(`Installing ${packages.join(', ')} with apt-get …`)
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    // Another program may be installing concurrently.
    const wait = ['-o', 'DPkg::Lock::Timeout=600']
    await run('apt-get', ['update', '-q', ...wait], { env })
    await run('apt-get', ['install', '-yq', '--no-install-recommends', ...wait, ...packages], { env })
    return ''
  } catch (cause) {
    const lines = (cause instanceof Error ? cause.message : String(cause)).trim().split('\n')
    return lines[lines.length - 1]
  } finally {
    lock.release()
  }
}
