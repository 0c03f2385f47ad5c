import { rename, writeFile } from 'node:fs/promises'

/** Writes a file of which a process that reads it meanwhile sees the old text or the new one, never a part. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const unfinished = `${path}.${process.pid}`
  await writeFile(unfinished, text)
  await rename(unfinished, path)
}
