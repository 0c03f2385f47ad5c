import { DeviceFault, type DeviceFaultReason } from './inference/device-fault.ts'

/** A fault of the device, as an inference process had it. */
export interface ReportedFault {
  readonly reason: DeviceFaultReason
  readonly message: string
  /** The job that the process ran; null at its start. */
  readonly subject: string | null
  /** When the process was started, in ms since 1970. */
  readonly startedAt: number
}

/** Why a worker takes no more jobs. */
export interface Sickness {
  readonly reason: DeviceFaultReason
  readonly message: string
  /** In ms since 1970. */
  readonly since: number
}

export interface DeviceHealth {
  /** Notes a fault; the first fences the worker until `noteReady`, a second within 10 minutes for good. */
  note(fault: ReportedFault): void
  /** A process that was started at this time has passed its self-test. */
  noteReady(startedAt: number): void
  /** Whether the worker must take no job now. */
  isFenced(): boolean
  /** Why the worker is fenced for good; null when it is not. */
  sickness(): Sickness | null
  /** @throws DeviceFault when the worker is fenced for good */
  assertWell(): void
}

const WINDOW_MS = 600_000

/**
 * Decides by the faults of all its inference processes whether a worker can still be trusted with jobs. Several processes that
 * fail at the same time are one fault, and a job that fails twice on a worker is counted once: neither one event nor one job
 * makes a healthy device look sick.
 */
export function createDeviceHealth({
  onSick,
  now = Date.now,
}: {
  onSick: (sickness: Sickness) => void
  now?: () => number
}): DeviceHealth {
  let counted: { at: number; subject: string | null }[] = []
  let lastAt = Number.NEGATIVE_INFINITY
  let recovering = false
  let sick: Sickness | null = null
  return {
    note: ({ reason, message, subject, startedAt }) => {
      if (sick !== null) return
      const at = now()
      counted = counted.filter((fault) => at - fault.at < WINDOW_MS)
      if (startedAt <= lastAt) return
      lastAt = at
      recovering = true
      if (subject !== null && counted.some((fault) => fault.subject === subject)) return
      counted.push({ at, subject })
      if (counted.length < 2) return
      sick = { reason, message, since: at }
      onSick(sick)
    },
    noteReady: (startedAt) => {
      if (startedAt > lastAt) recovering = false
    },
    isFenced: () => sick !== null || recovering,
    sickness: () => sick,
    assertWell: () => {
      if (sick !== null) throw new DeviceFault(sick.reason, sick.message)
    },
  }
}
