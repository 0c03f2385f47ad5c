import { parseArgs } from 'node:util'

type Size = 'smallest' | 'usual' | 'full'

const { values } = parseArgs({
  strict: false,
  options: { smallest: { type: 'boolean' }, full: { type: 'boolean' } },
})
const SIZE: Size = values.smallest ? 'smallest' : values.full ? 'full' : 'usual'

/** The value of the size that this run measures: in the `smallest` a benchmark ends within seconds, and its figure says nothing. */
export function bySize<T>({ smallest, usual, full = usual }: Record<'smallest' | 'usual', T> & { full?: T }): T {
  return { smallest, usual, full }[SIZE]
}
