import { describe, expect, it } from 'vitest'
import { readChecks } from '../../../controller/engine/checks.ts'
import { keepOfPod, type Pod } from '../../../controller/worker-pool/workers/pods.ts'

const DOWNLOAD_FAILED = 'model.onnx could not be fetched: the server answered 404'

const podWith = (init: object, { isReady = false, isDeleting = false } = {}): Pod =>
  keepOfPod({
    metadata: { name: 'w', namespace: 'shop', ...(isDeleting && { deletionTimestamp: '2026-01-01T00:00:00Z' }) },
    status: {
      phase: 'Running',
      initContainerStatuses: [{ name: 'check-large', ...init }],
      containerStatuses: [{ name: 'worker', ready: isReady, started: true }],
    },
  })
const running = { state: { running: {} } }
const endedWith = (exitCode: number, message = '') => ({ lastState: { terminated: { exitCode, message } } })

describe('the checks of the files that sidecars download', () => {
  it('are open while a sidecar downloads', () => {
    expect(readChecks('large', [podWith({ ...running, ready: false })])).toEqual({
      passed: 0,
      problem: null,
      proven: 0,
    })
  })

  it('pass when a sidecar is ready, also after an earlier failure', () => {
    const pods = [
      podWith({ ...running, ready: true }),
      podWith({ ...running, ready: true, ...endedWith(1, DOWNLOAD_FAILED) }),
    ]
    expect(readChecks('large', pods)).toMatchObject({ passed: 2, problem: null })
  })

  it('fail with the message of a sidecar that cannot download the files', () => {
    const pods = [podWith({ ...running, ready: false, ...endedWith(1, `trying again\n${DOWNLOAD_FAILED}\n`) })]
    expect(readChecks('large', pods)).toMatchObject({ passed: 0, problem: DOWNLOAD_FAILED })
  })

  it('do not fail when the sidecar of a worker that has opened the files restarts', () => {
    const pods = [podWith({ ...running, ready: false, ...endedWith(137) }, { isReady: true })]
    expect(readChecks('large', pods)).toMatchObject({ passed: 1, problem: null })
  })

  it('do not fail when a sidecar ends with its pod', () => {
    const ended = { state: { terminated: { exitCode: 137 } }, ready: false }
    expect(readChecks('large', [podWith(ended, { isDeleting: true })])).toMatchObject({ passed: 0, problem: null })
  })
})
