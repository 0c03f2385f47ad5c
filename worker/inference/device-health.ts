import { DeviceFault, type DeviceFaultReason } from './device-fault.ts'

/** A device fault that an inference process reported. */
export interface ReportedFault {
  readonly reason: DeviceFaultReason
  readonly message: string
  /** The job that the process was running; null on start-up. */
  readonly subject: string | null
  /** Start time of the process, in ms since 1970. */
  readonly startedAt: number
}

/** Why a worker accepts no more jobs. */
export interface Sickness {
  readonly reason: DeviceFaultReason
  readonly message: string
  /** In ms since 1970. */
  readonly since: number
}

export interface DeviceHealth {
  /** Records a fault. The first fault fences the worker until `noteReady`; a second fault within 10 minutes fences it permanently. */
  note(fault: ReportedFault): void
  /** Records that the process started at this time has passed its self-test. */
  noteReady(startedAt: number): void
  /** Whether the worker is fenced and must not accept a job. */
  isFenced(): boolean
  /** Why the worker is permanently fenced; null if it is not. */
  sickness(): Sickness | null
  /** @throws DeviceFault if the worker is permanently fenced */
  assertHealthy(): void
}

const WINDOW_MS = 600_000

/**
 * Decides from the faults of all inference processes whether a worker is healthy. Concurrent failures of several processes
 * count as one fault, and a job that fails twice on a worker counts once: neither one event nor one job makes a healthy device
 * look sick.
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
    assertHealthy: () => {
      if (sick !== null) throw new DeviceFault(sick.reason, sick.message)
    },
  }
}
