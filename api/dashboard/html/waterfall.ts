import { type Html, html } from '../../http/answers/html.ts'
import { ENGINE_STAGES, STAGES } from '../../shared/engines/stage-order.ts'
import { table } from './elements.ts'
import { plotShare } from './plot.ts'

interface Bar {
  readonly name: string
  readonly isInner: boolean
  /** Milliseconds from the start of the work. */
  readonly start: number
  readonly duration: number
}

/** Durations of stages in the order in which they ran, each with a bar from its start to its end. */
export function presentWaterfall(timings: Readonly<Record<string, number>>): Html {
  const stages = listStages(timings)
  const total = Math.max(1, ...stages.map(({ start, duration }) => start + duration))
  return table({
    caption: 'Duration of each stage',
    head: ['Stage', 'ms', 'Time'],
    rows: stages.map(({ name, isInner, start, duration }) => [
      isInner ? html`<span class="inner">${name}</span>` : name,
      String(Math.round(duration)),
      plotShare({ start, value: Math.max(duration, total / 200), whole: total, tone: isInner ? 'part' : 'whole' }),
    ]),
    empty: 'No durations recorded. Workers report them when a generation completes.',
    numeric: [1],
    narrow: true,
  })
}

function listStages(timings: Readonly<Record<string, number>>): Bar[] {
  const names = Object.keys(timings)
  const outer: string[] = STAGES.filter((name) => names.includes(name))
  const inner = names.filter((name) => !outer.includes(name)).toSorted((a, b) => placeOf(a) - placeOf(b))
  if (!outer.includes('engine')) return inARow(inner, { timings, start: 0, isInner: false })
  return inARow(outer, { timings, start: 0, isInner: false }).flatMap((stage) =>
    stage.name === 'engine' ? [stage, ...inARow(inner, { timings, start: stage.start, isInner: true })] : [stage],
  )
}

/** Stages that are not known come last. */
function placeOf(name: string): number {
  const order: readonly string[] = ENGINE_STAGES
  return order.includes(name) ? order.indexOf(name) : order.length
}

function inARow(
  names: readonly string[],
  { timings, start, isInner }: { timings: Readonly<Record<string, number>>; start: number; isInner: boolean },
): Bar[] {
  let end = start
  return names.map((name) => {
    const stage = { name, isInner, start: end, duration: timings[name] }
    end += timings[name]
    return stage
  })
}
