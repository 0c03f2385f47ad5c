import { SAFETY_LEVELS } from '../../api/shared/generations/generation.ts'
import { UsageError } from './options.ts'

/** The value of `--safety-level`; null for `none`, which removes the setting. */
export function readSafetyLevel(text: string | undefined) {
  if (text === undefined || text === 'none') return text && null
  const level = SAFETY_LEVELS.find((known) => known === text)
  if (level === undefined) throw new UsageError(`--safety-level must be ${SAFETY_LEVELS.join(', ')} or none`)
  return level
}
