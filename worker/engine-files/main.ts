import { bringFiles } from './bring.ts'
import { readSettings } from './settings.ts'
import { verifyFiles } from './verify.ts'

// Runs before a worker starts, and ahead of time on nodes: makes sure that the files of an engine are those that its Engine names.

try {
  const { folder, files, source } = readSettings(process.env)
  if (source !== null) await bringFiles(files, { folder, source })
  const bytes = await verifyFiles(files, folder)
  console.log(JSON.stringify({ verified: files.length, bytes, folder }))
} catch (error) {
  // The last line is what the cluster shows of a container that failed.
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
