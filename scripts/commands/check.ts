import type { CheckName } from './checks/run-check.ts'
import type { FreeCommand } from './command.ts'
import { argument, option, required } from './options.ts'

const CHECK_NAMES: readonly CheckName[] = [
  'migrations',
  'api',
  'workers',
  'storage',
  'ledger',
  'queue',
  'try-on',
  'metrics',
]

/** The checks of an installation that `helm test` runs. */
export const checkCommands: Readonly<Record<string, FreeCommand>> = {
  check: {
    summary: 'wait for one condition of an installation',
    argument: argument('<name>', 'what is checked').choices(CHECK_NAMES),
    options: [
      option('--url <url>', 'address of the API; for api, queue and try-on'),
      option('--probe-urls <url,url>', 'addresses of the probe ports of processes; for api and metrics'),
      option('--wait-seconds <n>', 'max seconds to retry until the check succeeds (default: 0)'),
    ],
    run: async ({ name, ...given }) =>
      (await import('./checks/run-check.ts')).runCheck(required(name, 'name') as CheckName, given),
  },
}
