import { basename } from 'node:path'

/** What one test file costs. */
export interface FileCost {
  readonly file: string
  /** From the end of the file before it in the same worker: with its imports. */
  readonly seconds: number
  /** Seconds of processor time of the process that runs the tests. */
  readonly own: number
  /** Seconds of processor time of programs that the file started and waited for. */
  readonly children: number
  /** First words of the command line of each program that the file started. */
  readonly programs: readonly string[]
}

/**
 * A table, the most expensive file first, then its sums. `processorSeconds` is what the whole run took, with the services that
 * all files share.
 */
export function presentProfile(costs: readonly FileCost[], processorSeconds: number): string {
  const sorted = costs.toSorted((a, b) => b.own + b.children - (a.own + a.children))
  const sum = (pick: (cost: FileCost) => number) => sorted.reduce((total, cost) => total + pick(cost), 0)
  const total = {
    seconds: sum(({ seconds }) => seconds),
    own: sum(({ own }) => own),
    children: sum((cost) => cost.children),
  }
  const programs = countPrograms(sorted.flatMap((cost) => cost.programs))
  return [
    '    wall     cpu     own  children  file: programs started',
    ...sorted.map((cost) => row(cost, `${cost.file}: ${countPrograms(cost.programs)}`)),
    row(total, `${sorted.length} files: ${programs}`),
    `The whole run took ${processorSeconds.toFixed(1)} s of processor time.`,
  ].join('\n')
}

function row({ seconds, own, children }: Pick<FileCost, 'seconds' | 'own' | 'children'>, text: string): string {
  const [wall, cpu, self, others] = [seconds, own + children, own, children].map((value) =>
    value.toFixed(1).padStart(8),
  )
  return `${wall}${cpu}${self}${others.padStart(10)}  ${text}`
}

function countPrograms(programs: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const program of programs.map(nameProgram)) counts.set(program, (counts.get(program) ?? 0) + 1)
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ')
}

/** `node api/main.ts` is api; `/usr/bin/redis-server --port` is redis-server. */
function nameProgram(command: string): string {
  const [program, argument = ''] = command.split(' ')
  if (!/node$/.test(program)) return basename(program)
  const main = /(api|worker|controller)\/main\.ts$/.exec(argument)
  return main === null ? `node ${basename(argument)}` : main[1]
}
