import { createProbeServer } from '../../../api/shared/network/probes.ts'
import { useProxies } from '../../../api/shared/network/proxies.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { createMetrics } from '../../../api/shared/telemetry/metrics.ts'
import { downloadFiles } from './download.ts'
import { readMarker, writeMarker } from './marker.ts'
import { readSettings } from './settings.ts'
import { verifyFiles } from './verify.ts'

// Verifies or downloads the files that the Engine lists. With PROBE_PORT it is a sidecar: it runs beside the worker, and marks the
// folder when all files are verified. Otherwise it runs before a worker starts, and exits.

/** Exit code of a process that SIGTERM ends. */
const SIGTERM_CODE = 143

try {
  useProxies(process.env)
  const { folder, files, source, probePort } = readSettings(process.env)
  const isMarked = async () => probePort !== null && (await readMarker(folder)) !== null
  if (probePort !== null) serve(probePort, isMarked)
  const startedAt = performance.now()
  // After a restart the files are still there, and the worker may have opened them.
  if (!(await isMarked())) {
    if (source !== null) await downloadFiles(files, { folder, source })
    const bytes = await verifyFiles(files, folder)
    const seconds = Math.round(performance.now() - startedAt) / 1000
    if (probePort !== null) await writeMarker(folder, { seconds })
    console.log(JSON.stringify({ verified: files.length, bytes, seconds, folder }))
  }
} catch (error) {
  // Kubernetes shows the last line of a failed container.
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(1)
}

/** Serves the probes of a sidecar until the pod ends. */
function serve(port: number, isMarked: () => Promise<boolean>): void {
  // The Engine counts exit code 0 as a passed check, also of a pod that was evicted during the download.
  process.once('SIGTERM', async () => process.exit((await isMarked().catch(() => false)) ? 0 : SIGTERM_CODE))
  const probes = createProbeServer({
    log: createLog({ process: 'engine-files', level: 'info' }),
    metrics: createMetrics('engine-files'),
    checks: {
      files: async () => {
        if (!(await isMarked())) throw new Error('the files are not complete')
      },
    },
  })
  probes.listen(port)
}
