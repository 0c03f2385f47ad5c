import { type MeasuredSpan, recordSpan } from '../api/shared/telemetry.ts'

/** The parts of a try-on in the order of their time; every other timing is of a part of the engine's. */
const STAGES = ['decode', 'engine', 'composite', 'encode']

/**
 * Records the stages of a try-on that ended just now (ms since 1970) as spans. The inference process reports only how long each
 * took, in ms; they follow each other without a gap, up to the last one's end.
 */
export function recordStages(timings: Readonly<Record<string, number>>, ended: number): void {
  const stages = STAGES.filter((name) => timings[name] !== undefined)
  const inner = Object.keys(timings).filter((name) => !STAGES.includes(name))
  const start = ended - stages.reduce((sum, name) => sum + timings[name], 0)
  for (const stage of inARow(stages, timings, start)) {
    recordSpan(stage.name, { ...stage, parts: stage.name === 'engine' ? inARow(inner, timings, stage.start) : [] })
  }
}

function inARow(names: readonly string[], timings: Readonly<Record<string, number>>, start: number) {
  let end = start
  return names.map((name): MeasuredSpan & { name: string } => {
    const began = end
    end += timings[name]
    return { name, start: began, end }
  })
}
