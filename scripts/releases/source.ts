import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { run } from '../stack/commands.ts'
import { readNotes } from './changelog.ts'

/** What is released: a commit with a version. */
export interface Source {
  readonly version: string
  readonly commit: string
  /** Address of the repository, without credentials; empty if it has none. */
  readonly repository: string
  /** Release notes in Markdown. */
  readonly notes: string
  /** SHA-256 of the lock file, which fixes every package of npm. */
  readonly lockFile: string
}

const SEMANTIC = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/

/**
 * Reads the version and its notes from a clone. `today` is the date of the release.
 * @throws Error if files are changed or not committed, versions differ, or the changelog lacks the version.
 */
export async function readSource(root: string, today: Date): Promise<Source> {
  const git = async (...args: string[]) => (await run('git', args, { cwd: root })).trim()
  const changed = await git('status', '--porcelain')
  if (changed !== '') throw new Error(`A release is made of a commit. Commit or remove these files first:\n${changed}`)
  const read = (path: string) => readFile(join(root, path), 'utf8')
  const { version } = JSON.parse(await read('package.json')) as { version: string }
  // It becomes a tag, and part of commands.
  if (!SEMANTIC.test(version)) throw new Error(`package.json: "${version}" is not a version such as 1.2.0`)
  for (const name of ['drape', 'drape-crds']) {
    const chart = parse(await read(`charts/${name}/Chart.yaml`)) as { version: string }
    if (chart.version !== version) {
      throw new Error(`charts/${name}/Chart.yaml has the version ${chart.version}, package.json ${version}`)
    }
  }
  return {
    version,
    commit: await git('rev-parse', 'HEAD'),
    repository: withoutCredentials(await git('config', '--default', '', '--get', 'remote.origin.url')),
    notes: readNotes(await read('CHANGELOG.md'), { version, today }),
    lockFile: createHash('sha256')
      .update(await read('package-lock.json'))
      .digest('hex'),
  }
}

/** Continuous integration clones with a token in the URL. */
function withoutCredentials(address: string): string {
  return address.replace(/^(\w+:\/\/)[^/@]*@/, '$1')
}
