import { downloadFiles } from './download.ts'
import { readSettings } from './settings.ts'
import { verifyFiles } from './verify.ts'

// Runs before a worker starts, and in prefetch pods: verifies or downloads the files that the Engine lists.

try {
  const { folder, files, source } = readSettings(process.env)
  if (source !== null) await downloadFiles(files, { folder, source })
  const bytes = await verifyFiles(files, folder)
  console.log(JSON.stringify({ verified: files.length, bytes, folder }))
} catch (error) {
  // Kubernetes shows the last line of a failed container.
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
