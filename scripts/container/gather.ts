import { cpSync, mkdirSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { readElf } from './elf.ts'
import { LEFT_OUT, PROGRAMS } from './programs.ts'
import { gatherRuntime } from './runtime.ts'
import { traceNeeds } from './trace.ts'

// Runs during an image build, in a folder with the sources and packages: copies the contents of each image, one folder per
// layer. The image is for the platform of ROOT, the base image, of which nothing runs. Usage: gather.ts TARGET_FOLDER ROOT

const WEIGHTS = 'worker/models/'
/** Files of packages that no program reads: types, documents, and parts for other platforms or for the runtime Bare. */
const UNREAD = /\.d\.[cm]?ts$|\.map$|\.md$|\.musl\.node$|\.bare$|\/onnxruntime-node\/bin\/napi-v6\/(?!linux(\/|$))/

const [target, root] = process.argv.slice(2)
if (root === undefined) throw new Error('usage: gather.ts TARGET_FOLDER ROOT')
const { cpu } = readElf(join(root, process.execPath))
const OTHER_MACHINES = ['x64', 'arm64'].filter((name) => name !== cpu)
for (const [name, entries] of Object.entries(PROGRAMS)) {
  const { files, packages } = traceNeeds('.', entries, { leftOut: LEFT_OUT[name] })
  for (const path of packages) copyPackage(path, join(target, name, 'packages', path))
  for (const file of files) copy(file, join(target, name, file.startsWith(WEIGHTS) ? 'weights' : 'sources', file))
}
gatherRuntime(join(target, 'runtime'), { root, node: process.execPath, native: join(target, 'worker/packages') })

/** Excludes nested packages, which are copied separately. */
function copyPackage(from: string, to: string): void {
  const inner = join(from, 'node_modules') + sep
  cpSync(from, to, {
    recursive: true,
    dereference: true,
    filter: (path) => !`${path}${sep}`.startsWith(inner) && isRead(path),
  })
}

function isRead(path: string): boolean {
  return (
    !UNREAD.test(path) && !OTHER_MACHINES.some((name) => path.includes(`/onnxruntime-node/bin/napi-v6/linux/${name}`))
  )
}

function copy(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true })
  cpSync(from, to)
}
