import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { run } from './commands.ts'
import { userCache } from './user-cache.ts'

/** Installs into a folder of the user once per state of the files and of `program`, and returns the folder. */
async function installOnce(
  name: string,
  { files, program }: { files: readonly string[]; program: string },
  install: (folder: string) => Promise<void>,
): Promise<string> {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${program}`)
  for (const file of files) hash.update(readFileSync(file))
  const folder = join(userCache('packages'), `${name}-${hash.digest('hex').slice(0, 12)}`)
  const mark = join(folder, 'installed')
  if (existsSync(mark)) return folder
  // Programs of a virtual environment contain its path, so it cannot be moved: another process may install into it concurrently.
  mkdirSync(folder, { recursive: true })
  await install(folder)
  writeFileSync(`${mark}-new`, '')
  renameSync(`${mark}-new`, mark)
  return folder
}

/** A folder with the packages of `package.json` and `package-lock.json` in `from`, without running install scripts. */
export function installNpmPackages(name: string, from: string): Promise<string> {
  const files = ['package.json', 'package-lock.json'].map((file) => join(from, file))
  return installOnce(name, { files, program: 'npm' }, async (folder) => {
    for (const file of files) cpSync(file, join(folder, basename(file)))
    await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: folder })
  })
}

/** A folder with a virtual environment of the interpreter and the pinned packages of the list. */
export async function installPythonPackages(name: string, list: string, python: string): Promise<string> {
  // An environment refers to its interpreter, and is useless without it.
  const program = await run(python, ['-c', 'import sys; print(sys.executable, sys.version)'])
  return installOnce(name, { files: [list], program }, async (folder) => {
    await run(python, ['-m', 'venv', folder])
    const install = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps', '-r', list]
    await run(join(folder, 'bin/python'), install)
  })
}
