import { join } from 'node:path'
import { aborted, runSession, say } from './session.ts'

await runSession(async ({ report, dataFolder }, interrupted) => {
  process.stdout.write(`${JSON.stringify(report)}\n`)
  say(`Drape is ready on ${report.url}. Logs are in ${join(dataFolder, 'logs')}. Press Ctrl-C to stop it.`)
  await aborted(interrupted)
})
