import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdtemp, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { run } from '../stack/commands.ts'
import { ROOT } from '../stack/session.ts'
import { BUILT_WIDGET } from '../widgets/build.ts'

/** Copies tracked and untracked files that git does not ignore, and the widget, so that mutants never change the clone itself. */
export async function copyTree(root: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'drape-mutation-'))
  const list = await run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root })
  for (const path of [...list.split('\0').filter(Boolean), relative(ROOT, BUILT_WIDGET)]) {
    await cp(join(root, path), join(folder, path), { recursive: true }).catch((error) => {
      // Git still lists a file that was just deleted.
      if (error.code !== 'ENOENT') throw error
    })
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Whether these tests pass in the copy within this time. */
export async function passes(folder: string, tests: readonly string[], maxMs: number): Promise<boolean> {
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs')
  const child = spawn(process.execPath, [vitest, 'run', '--bail=1', '--reporter=dot', ...tests], {
    cwd: folder,
    stdio: 'ignore',
  })
  const terminate = setTimeout(() => child.kill('SIGTERM'), maxMs)
  const kill = setTimeout(() => child.kill('SIGKILL'), maxMs + 10_000)
  const [code] = await once(child, 'exit')
  clearTimeout(terminate)
  clearTimeout(kill)
  return code === 0
}
