import { existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../../../scripts/stack/commands.ts'
import { removeControlGroups } from './control-groups.ts'
import { POD_NETWORK } from './node-settings.ts'

/** Ends what is left of the node in `folder`, its containers first, and takes away its mounts, rules and the folder itself. */
export async function clearMachine(folder: string): Promise<void> {
  if (!existsSync(folder)) return
  await removeControlGroups()
  await endShims(folder)
  for (const path of await findMounts(folder)) await run('umount', ['--lazy', path]).catch(() => {})
  await removePodRules()
  await rm(folder, { recursive: true, force: true })
}

/** A shim outlives containerd by design; its command line names the socket of its own. */
async function endShims(folder: string): Promise<void> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const words = await readFile(join('/proc', pid, 'cmdline'), 'utf8').catch(() => '')
    if (words.includes('containerd-shim') && words.includes(`${folder}/`)) process.kill(Number(pid), 'SIGKILL')
  }
}

/** The latest first. */
async function findMounts(folder: string): Promise<string[]> {
  const lines = (await readFile('/proc/mounts', 'utf8')).split('\n')
  const paths = lines.map((line) => line.split(' ')[1] ?? '').filter((path) => path.startsWith(`${folder}/`))
  return paths.reverse()
}

/** Files of the network plugin for pods that it was not asked to remove. */
async function removePodRules(): Promise<void> {
  const rules = (await run('iptables-save', ['--table', 'nat']))
    .split('\n')
    .filter((line) => line.includes(POD_NETWORK))
  const chains = rules.map((rule) => / -j (CNI-\S+)/.exec(rule)?.[1]).filter((name) => name !== undefined)
  const changes = [
    ...rules.map((rule) => rule.replace(/^-A/, '-D')),
    ...[...new Set(chains)].flatMap((name) => [`-F ${name}`, `-X ${name}`]),
  ]
  if (changes.length === 0) return
  await run('iptables-restore', ['--noflush', '--wait'], { input: `*nat\n${changes.join('\n')}\nCOMMIT\n` })
}
