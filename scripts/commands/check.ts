import type { Option } from 'commander'
import type { CheckName } from './checks/run-check.ts'
import type { FreeCommand } from './command.ts'
import { mandatory, option } from './options.ts'

const WAIT = option('--wait-seconds <n>', 'max seconds to retry until the check succeeds (default: 0)')
const API_URL = mandatory('--url <url>', 'address of the API')
const PROBE_URLS = mandatory('--probe-urls <url,url>', 'addresses of the probe ports of processes')
const FOLDER = mandatory('--folder <folder>', 'folder of the dashboards')

/** The checks of an installation that `helm test` runs. */
export const checkCommands: Readonly<Record<string, FreeCommand>> = {
  'check migrations': check('migrations', 'the database schema is current'),
  'check api': check('api', 'the API responds, authenticates keys and is ready', API_URL, PROBE_URLS),
  'check workers': check('workers', 'live workers serve both queues'),
  'check storage': check('storage', 'objects can be written, read and deleted'),
  'check queue': check('queue', 'a worker completes a job', API_URL),
  'check try-on': check('try-on', 'a try-on completes, and its result can be downloaded', API_URL),
  'check metrics': check('metrics', 'every process serves metrics', PROBE_URLS),
  'check dashboards': check('dashboards', 'the dashboards exist and contain queries', FOLDER),
}

function check(name: CheckName, summary: string, ...options: readonly Option[]): FreeCommand {
  return {
    summary,
    options: [...options, WAIT],
    run: async (given) => (await import('./checks/run-check.ts')).runCheck(name, given),
  }
}
