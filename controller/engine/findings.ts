import { type Finding, type Progress, progressFindings } from '../runtime/conditions.ts'
import type { Checks } from './checks.ts'
import type { Prefetch } from './prefetch.ts'
import type { Engine } from './resource.ts'

/** Observed state of an engine. */
export interface EngineFacts {
  readonly engine: Engine
  readonly checks: Checks
  /** Prefetch progress; null if prefetch is disabled; or the reason why the progress is unknown. */
  readonly prefetch: Prefetch | UnknownPrefetch | null
  /** Message of a failed check on a node. */
  readonly prefetchProblem: string | null
  /** The API server's error when it rejected the prefetch Jobs; null if it accepted them. */
  readonly refusal: string | null
}

/** Why the prefetch progress is unknown, and whether workers may start anyway. */
export interface UnknownPrefetch {
  readonly unknown: string
  readonly usable: boolean
}

type Phase = 'Pending' | 'Loading' | 'Verified' | 'Failed'

/** Computes the phase and the conditions of an engine from its licence and the state of its files. */
export function findingsOf(facts: EngineFacts): { phase: Phase; nodes: number | undefined; findings: Finding[] } {
  const { license } = facts.engine.spec
  const licensed = license.commercialUse || license.acknowledged
  const files = licensed ? findFiles(facts) : NOT_LICENSED
  const usable = files.phase === 'Verified' || files.usable === true
  const refusal = `${license.name} does not allow commercial use: set license.acknowledged to confirm a use within the licence.`
  const message = licensed ? files.message : refusal
  const known = facts.prefetch && !('unknown' in facts.prefetch) ? facts.prefetch : null
  return {
    phase: files.phase,
    nodes: known?.loaded,
    findings: [
      {
        type: 'Licensed',
        status: licensed ? 'True' : 'False',
        reason: license.commercialUse ? 'Commercial' : licensed ? 'Acknowledged' : 'NotAcknowledged',
        message: licensed ? license.name : refusal,
      },
      ...prefetchedFinding(facts),
      conformantFinding(facts),
      {
        type: 'Ready',
        status: usable ? 'True' : 'False',
        reason: files.reason,
        message,
      },
      ...progressFindings(progressOf(files, licensed), files.reason, message),
    ],
  }
}

function progressOf({ phase, reason }: FilesState, licensed: boolean): Progress {
  if (!licensed || phase === 'Failed') return 'Stalled'
  return reason === 'Loading' || phase === 'Loading' ? 'Reconciling' : 'Settled'
}

interface FilesState {
  readonly phase: Phase
  readonly reason: string
  readonly message: string
  /** Workers may start although not every file has been verified. */
  readonly usable?: boolean
}

const NOT_LICENSED: FilesState = { phase: 'Pending', reason: 'NotLicensed', message: '' }

function findFiles({ engine, checks, prefetch, prefetchProblem, refusal }: EngineFacts): FilesState {
  const { source } = engine.spec
  if (source.bundled)
    return { phase: 'Verified', reason: 'Bundled', message: 'The files are in the image of the workers.' }
  const problem = checks.problem ?? prefetchProblem
  if (problem !== null) return { phase: 'Failed', reason: 'FilesDiffer', message: problem }
  if (refusal !== null) return { phase: 'Failed', reason: 'Refused', message: refusal }
  if (checks.passed > 0) return { phase: 'Verified', reason: 'Verified', message: 'Workers have checked the files.' }
  if (prefetch && !('unknown' in prefetch)) {
    const { loaded, wanted } = prefetch
    const message = `${loaded} of ${wanted} nodes have the files.`
    if (loaded > 0)
      return { phase: loaded === wanted ? 'Verified' : 'Loading', reason: 'Verified', message, usable: true }
    if (wanted > 0) return { phase: 'Loading', reason: 'Loading', message }
  }
  if (prefetch && 'unknown' in prefetch && !prefetch.usable)
    return { phase: 'Pending', reason: 'Loading', message: prefetch.unknown }
  return { phase: 'Pending', reason: 'Usable', message: 'Each worker checks the files before it starts.', usable: true }
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

function prefetchedFinding({ prefetch, prefetchProblem }: EngineFacts): Finding[] {
  if (prefetch === null) return []
  if ('unknown' in prefetch) {
    return [{ type: 'Prefetched', status: 'Unknown', reason: 'NotKnown', message: prefetch.unknown }]
  }
  const { loaded, wanted, failed } = prefetch
  const done = loaded === wanted && failed.length === 0
  const summary = `${loaded} of ${wanted} nodes have the files.`
  return [
    {
      type: 'Prefetched',
      status: done ? 'True' : 'False',
      reason: done ? 'OnAllNodes' : failed.length > 0 ? 'Failed' : 'Loading',
      message: failed.length > 0 ? `${summary} Failed: ${failed.join(', ')}. ${prefetchProblem ?? ''}`.trim() : summary,
    },
  ]
}
