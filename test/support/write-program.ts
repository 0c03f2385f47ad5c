import { chmod, mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a shell program, even over one that another test runs. */
export async function writeProgram(path: string, commands: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const written = `${path}.${process.pid}`
  await writeFile(written, `#!/bin/sh\n${commands}\n`)
  await chmod(written, 0o755)
  await rename(written, path)
}
