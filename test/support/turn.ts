import { relative } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect } from 'vitest'
import { ROOT } from '../../scripts/stack/session.ts'
import { isInTurn } from '../../scripts/testing/schedule.ts'
import { requestService } from './request-service.ts'

const HOUR_MS = 3_600_000

// Registered before all others, so it runs before all others. A worker gives its turn back when it begins its next file.
beforeAll(async () => {
  const isWanted = isInTurn(relative(ROOT, expect.getState().testPath ?? ''))
  while (!(await requestService('turn', { pid: process.pid, isWanted })).isGranted) await sleep(250)
}, HOUR_MS)
