import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Parent of all pods of the node, separate from other pods of the machine. */
export const CONTROL_GROUP = '/drape-test'

const MOUNT = '/sys/fs/cgroup'
const ATTEMPTS = 50

/** Makes the group in each hierarchy; version 2 has only one. */
export async function makeControlGroups(): Promise<void> {
  if (isUnified()) {
    await writeFile(join(MOUNT, 'cgroup.subtree_control'), '+cpu +cpuset +io +memory +pids')
  }
  for (const folder of await findGroups()) {
    await mkdir(folder, { recursive: true })
    for (const name of ['cpuset.cpus', 'cpuset.mems']) await inherit(folder, name)
  }
}

/** Kills whatever still runs in the group and takes it away. */
export async function removeControlGroups(): Promise<void> {
  for (const folder of await findGroups()) {
    for (let attempt = 0; existsSync(folder) && attempt < ATTEMPTS; attempt++) {
      for (const path of await foldersOf(folder)) await killMembers(path)
      for (const path of await foldersOf(folder)) await rmdir(path).catch(() => {})
      if (existsSync(folder)) await sleep(100)
    }
  }
}

function isUnified(): boolean {
  return existsSync(join(MOUNT, 'cgroup.controllers'))
}

async function findGroups(): Promise<string[]> {
  if (isUnified()) return [join(MOUNT, CONTROL_GROUP)]
  const hierarchies = await readdir(MOUNT, { withFileTypes: true })
  return hierarchies.filter((entry) => entry.isDirectory()).map(({ name }) => join(MOUNT, name, CONTROL_GROUP))
}

/** In version 1, a new group has no processor until one is assigned. */
async function inherit(folder: string, name: string): Promise<void> {
  const path = join(folder, name)
  if (!existsSync(path) || (await readFile(path, 'utf8')).trim() !== '') return
  await writeFile(path, await readFile(join(folder, '..', name), 'utf8'))
}

/** The deepest first. */
async function foldersOf(folder: string): Promise<string[]> {
  if (!existsSync(folder)) return []
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const inner = entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name))
  return [...inner, folder].sort((a, b) => b.length - a.length)
}

async function killMembers(folder: string): Promise<void> {
  const text = await readFile(join(folder, 'cgroup.procs'), 'utf8').catch(() => '')
  for (const line of text.split('\n').filter((each) => each !== '')) {
    try {
      process.kill(Number(line), 'SIGKILL')
    } catch {
      // It has ended by itself meanwhile.
    }
  }
}
