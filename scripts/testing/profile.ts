import { basename } from 'node:path'

/** Cost of one test file. */
export interface FileCost {
  readonly file: string
  /** From the end of the previous file in the same worker, including imports. */
  readonly seconds: number
  /** CPU seconds of the test process. */
  readonly own: number
  /** CPU seconds of programs that the file started and waited for. */
  readonly children: number
  /** First words of the command line of each program that the file started. */
  readonly programs: readonly string[]
}

/**
 * A table, most expensive file first, followed by the sums. `processorSeconds` is the CPU time of the whole run, including
 * shared services.
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
