import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type ElfFile, readElf } from './elf.ts'

/** User of the programs: not used elsewhere, without a home directory. */
const USER = 65532
/** Where Debian's package manager stores what is installed. */
const DATABASE = 'var/lib/dpkg'
const ACCOUNTS: Readonly<Record<string, string>> = {
  'etc/passwd': `root:x:0:0:root:/:/sbin/nologin\ndrape:x:${USER}:${USER}:drape:/tmp:/sbin/nologin\n`,
  'etc/group': `root:x:0:\ndrape:x:${USER}:\n`,
  'etc/nsswitch.conf': 'hosts: files dns\n',
}

/**
 * Creates a root file system in `folder` that contains the `node` of the distribution in `root`, the libraries that it and the
 * native modules in `native` load, and nothing else of the distribution: no shell, no package manager. Records Debian packages in
 * the format that vulnerability scanners expect, with their licences. Runs no program of `root`, which may be of another platform.
 * @throws Error if a library is missing.
 */
export function gatherRuntime(
  folder: string,
  { root, node, native }: { root: string; node: string; native: string },
): void {
  const libraries = findLibraries(root, [join(root, node), ...findNative(native)])
  copy(join(root, node), join(folder, 'usr/local/bin/node'))
  for (const library of libraries) copy(realpathSync(join(root, library)), join(folder, library))
  for (const name of new Set(libraries.flatMap((library) => findDebianPackage(root, library)))) {
    notePackage(name, { root, folder })
  }
  for (const [path, text] of Object.entries(ACCOUNTS)) write(join(folder, path), text)
  copy(realpathSync(join(root, 'etc/os-release')), join(folder, 'etc/os-release'))
  mkdirSync(join(folder, 'tmp'))
  chmodSync(join(folder, 'tmp'), 0o1777)
}

function findNative(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.node$|\.so(\.|$)/.test(path))
    .map((path) => join(folder, path))
}

/** Absolute paths in `root` of the distribution's libraries that these programs and libraries need, and those that they need. */
function findLibraries(root: string, paths: readonly string[]): string[] {
  const native = new Set(paths.map((path) => basename(path)))
  // A program names its loader by path.
  const isOfDistribution = (name: string) => !native.has(name) && !name.startsWith('ld-linux')
  const found = new Set<string>()
  // Iterating a set includes elements that are added during the iteration.
  const files = new Set(paths)
  for (const file of files) {
    const { cpu, needed, interpreter } = readElf(file)
    const names = needed.filter(isOfDistribution).map((name) => findLibrary(root, { name, cpu, file }))
    for (const library of [...names, ...(interpreter === undefined ? [] : [interpreter])]) {
      found.add(library)
      files.add(join(root, library))
    }
  }
  return [...found].sort()
}

const FOLDERS = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' }

function findLibrary(root: string, { name, cpu, file }: { name: string; cpu: ElfFile['cpu']; file: string }): string {
  const folders = [`/lib/${FOLDERS[cpu]}`, `/usr/lib/${FOLDERS[cpu]}`, '/lib64', '/usr/lib64', '/lib', '/usr/lib']
  const path = folders.map((folder) => `${folder}/${name}`).find((candidate) => existsSync(join(root, candidate)))
  if (path === undefined) throw new Error(`${file} needs ${name}, which the base image does not contain`)
  return path
}

/** Packages can list libraries under /usr, to which /lib is a link. */
function findDebianPackage(root: string, path: string): string[] {
  if (!existsSync('/usr/bin/dpkg-query') || !existsSync(join(root, DATABASE))) return []
  for (const noted of [path, `/usr${path}`]) {
    try {
      const answer = query(root, ['-S', noted])
      return [...answer.matchAll(/^([a-z0-9.+-]+(?::\w+)?): /gm)].map(([, name]) => name)
    } catch {}
  }
  return []
}

/** `qualified` is a name with an architecture, such as libc6:arm64. */
function notePackage(qualified: string, { root, folder }: { root: string; folder: string }): void {
  const [name] = qualified.split(':')
  write(join(folder, 'var/lib/dpkg/status.d', name), query(root, ['-s', qualified]))
  const licence = join(root, `usr/share/doc/${name}/copyright`)
  if (existsSync(licence)) copy(realpathSync(licence), join(folder, `usr/share/doc/${name}/copyright`))
}

function query(root: string, args: readonly string[]): string {
  return execFileSync('dpkg-query', [`--admindir=${join(root, DATABASE)}`, ...args], {
    encoding: 'utf8',
    stdio: 'pipe',
  })
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to)
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}
