import { STAGES } from '../../api/shared/engines/stage-order.ts'
import { type MeasuredSpan, recordSpan } from '../../api/shared/telemetry/telemetry.ts'

/**
 * Records the stages of a try-on that just ended (`ended`: ms since 1970) as spans. The inference process reports only
 * durations in ms; the stages follow each other without a gap until `ended`.
 */
export function recordStages(timings: Readonly<Record<string, number>>, ended: number): void {
  const stages: string[] = STAGES.filter((name) => timings[name] !== undefined)
  const inner = Object.keys(timings).filter((name) => !stages.includes(name))
  const start = ended - stages.reduce((sum, name) => sum + timings[name], 0)
  for (const stage of sequential(stages, timings, start)) {
    recordSpan(stage.name, { ...stage, parts: stage.name === 'engine' ? sequential(inner, timings, stage.start) : [] })
  }
}

function sequential(names: readonly string[], timings: Readonly<Record<string, number>>, start: number) {
  let end = start
  return names.map((name): MeasuredSpan & { name: string } => {
    const began = end
    end += timings[name]
    return { name, start: began, end }
  })
}
