import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** User of the programs: not used elsewhere, without a home directory. */
const USER = 65532
const ACCOUNTS: Readonly<Record<string, string>> = {
  'etc/passwd': `root:x:0:0:root:/:/sbin/nologin\ndrape:x:${USER}:${USER}:drape:/tmp:/sbin/nologin\n`,
  'etc/group': `root:x:0:\ndrape:x:${USER}:\n`,
  'etc/nsswitch.conf': 'hosts: files dns\n',
}

/**
 * Creates a root file system in `folder` that contains `node`, the libraries that it and the native modules in `native` load,
 * and nothing else of the distribution: no shell, no package manager. Records Debian packages in the format that
 * vulnerability scanners expect, with their licences.
 */
export function gatherRuntime(folder: string, { node, native }: { node: string; native: string }): void {
  const libraries = findLibraries([node, ...findNative(native)])
  copy(node, join(folder, 'usr/local/bin/node'))
  for (const library of libraries) copy(realpathSync(library), join(folder, library))
  for (const name of new Set(libraries.flatMap(findDebianPackage))) notePackage(name, folder)
  for (const [path, text] of Object.entries(ACCOUNTS)) write(join(folder, path), text)
  copy(realpathSync('/etc/os-release'), join(folder, 'etc/os-release'))
  mkdirSync(join(folder, 'tmp'))
  chmodSync(join(folder, 'tmp'), 0o1777)
}

function findNative(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.node$|\.so(\.|$)/.test(path))
    .map((path) => join(folder, path))
}

/** Absolute paths of the distribution's libraries that these programs and libraries need. */
function findLibraries(paths: readonly string[]): string[] {
  const lines = paths.flatMap((path) => execFileSync('ldd', [path], { encoding: 'utf8' }).split('\n'))
  const found = lines.map((line) => /(?:=> |^\s*)(\/\S+) \(0x/.exec(line)?.[1]).filter((path) => path !== undefined)
  return [...new Set(found)].filter((path) => !path.includes('node_modules')).sort()
}

/** Packages can list libraries under /usr, to which /lib is a link. */
function findDebianPackage(path: string): string[] {
  if (!existsSync('/usr/bin/dpkg-query')) return []
  for (const noted of [path, `/usr${path}`]) {
    try {
      const answer = execFileSync('dpkg-query', ['-S', noted], { encoding: 'utf8', stdio: 'pipe' })
      return [...answer.matchAll(/^([a-z0-9.+-]+)(?::\w+)?: /gm)].map(([, name]) => name)
    } catch {}
  }
  return []
}

function notePackage(name: string, folder: string): void {
  const status = execFileSync('dpkg-query', ['-s', name], { encoding: 'utf8' })
  write(join(folder, 'var/lib/dpkg/status.d', name), status)
  const licence = `/usr/share/doc/${name}/copyright`
  if (existsSync(licence)) copy(realpathSync(licence), join(folder, licence))
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to)
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
