import { type Finding, progressFindings } from '../runtime/conditions.ts'
import type { Checks } from './checks.ts'
import type { Engine } from './resource.ts'

/** Observed state of an engine. */
export interface EngineFacts {
  readonly engine: Engine
  readonly checks: Checks
}

type Phase = 'Pending' | 'Verified' | 'Failed'

/** Computes the phase and the conditions of an engine from its licence and the state of its files. */
export function findingsOf(facts: EngineFacts): { phase: Phase; findings: Finding[] } {
  const { license } = facts.engine.spec
  const licensed = license.commercialUse || license.acknowledged
  const files = licensed ? findFiles(facts) : NOT_LICENSED
  const refusal = `${license.name} does not allow commercial use: set license.acknowledged to confirm a use within the licence.`
  const message = licensed ? files.message : refusal
  const isUsable = licensed && files.phase !== 'Failed'
  return {
    phase: files.phase,
    findings: [
      {
        type: 'Licensed',
        status: licensed ? 'True' : 'False',
        reason: license.commercialUse ? 'Commercial' : licensed ? 'Acknowledged' : 'NotAcknowledged',
        message: licensed ? license.name : refusal,
      },
      conformantFinding(facts),
      {
        type: 'Ready',
        status: isUsable ? 'True' : 'False',
        reason: files.reason,
        message,
      },
      ...progressFindings(isUsable ? 'Settled' : 'Stalled', files.reason, message),
    ],
  }
}

interface FilesState {
  readonly phase: Phase
  readonly reason: string
  readonly message: string
}

const NOT_LICENSED: FilesState = { phase: 'Pending', reason: 'NotLicensed', message: '' }

function findFiles({ engine, checks: { problem, passed } }: EngineFacts): FilesState {
  if (engine.spec.source.bundled)
    return { phase: 'Verified', reason: 'Bundled', message: 'The files are in the image of the workers.' }
  if (problem !== null) return { phase: 'Failed', reason: 'FilesDiffer', message: problem }
  if (passed > 0) return { phase: 'Verified', reason: 'Verified', message: 'Workers have checked the files.' }
  return { phase: 'Pending', reason: 'Usable', message: 'Each worker checks the files before it starts.' }
}

function conformantFinding({ checks: { proven } }: EngineFacts): Finding {
  const one = proven === 1 ? '1 worker has' : `${proven} workers have`
  return proven > 0
    ? { type: 'Conformant', status: 'True', reason: 'Proven', message: `${one} passed the self-test.` }
    : {
        type: 'Conformant',
        status: 'Unknown',
        reason: 'NotProven',
        message: 'No worker of this engine accepts jobs. See the log of a worker for the reason.',
      }
}
