import type { Session } from '../../worker/inference/session.ts'

/** The same graphs; counts the runs of the named ones. */
export function countRuns<G extends object, N extends keyof G & string>(
  graphs: G & Readonly<Record<N, Session>>,
  names: readonly N[],
): { graphs: G; runs: Record<string, number> } {
  const runs: Record<string, number> = Object.fromEntries(names.map((name) => [name, 0]))
  const counted = names.map((name) => [
    name,
    {
      ...graphs[name],
      run: (...args: Parameters<Session['run']>) => {
        runs[name]++
        return graphs[name].run(...args)
      },
    },
  ])
  return { graphs: { ...graphs, ...Object.fromEntries(counted) }, runs }
}
