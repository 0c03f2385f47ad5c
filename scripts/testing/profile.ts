import { basename } from 'node:path'

/** Cost of one test file. */
export interface FileCost {
  readonly file: string
  /** Milliseconds since 1970. */
  readonly endedAt: number
  /** From the end of the previous file in the same worker, including imports. */
  readonly seconds: number
  /** CPU seconds of the test process. */
  readonly own: number
  /** CPU seconds of the programs that the file started; without control groups, only of those that it waited for. */
  readonly children: number
  /** First words of the command line of each program that the file started. */
  readonly programs: readonly string[]
}

/** A whole run. */
export interface RunCost {
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** Of wall time. */
  readonly seconds: number
  /** CPU seconds, including shared services. */
  readonly processorSeconds: number
}

/** A table, most expensive file first, followed by the sums. The column `end` is the minute of the run at which a file ended. */
export function presentProfile(costs: readonly FileCost[], { startedAt, seconds, processorSeconds }: RunCost): string {
  const sorted = costs.toSorted((a, b) => b.own + b.children - (a.own + a.children))
  const sum = (pick: (cost: FileCost) => number) => sorted.reduce((total, cost) => total + pick(cost), 0)
  const total = {
    endedAt: Math.max(...sorted.map((cost) => cost.endedAt)),
    seconds: sum((cost) => cost.seconds),
    own: sum(({ own }) => own),
    children: sum((cost) => cost.children),
  }
  const row = (cost: Omit<FileCost, 'file' | 'programs'>, text: string) => {
    const { own, children } = cost
    const minute = (cost.endedAt - startedAt) / 60_000
    const columns = [minute, cost.seconds, own + children, own].map((value) => value.toFixed(1).padStart(8))
    return `${columns.join('')}${children.toFixed(1).padStart(10)}  ${text}`
  }
  const programs = countPrograms(sorted.flatMap((cost) => cost.programs))
  return [
    '     end    wall     cpu     own  children  file: programs started',
    ...sorted.map((cost) => row(cost, `${cost.file}: ${countPrograms(cost.programs)}`)),
    row(total, `${sorted.length} files: ${programs}`),
    `The whole run took ${processorSeconds.toFixed(1)} s of processor time in ${seconds.toFixed(1)} s.`,
  ].join('\n')
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
