import { Type } from '../../api/shared/contract/schema.ts'

export const TIME_ZONE = Type.String({
  default: 'UTC',
  maxLength: 64,
  pattern: '^[A-Za-z0-9_+/-]+$',
  description: 'IANA time zone of start and end, for example Europe/Berlin. Default UTC.',
})

/** Whether the time zone is supported. */
export function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone })
    return true
  } catch {
    return false
  }
}
