import { matchesGlob } from 'node:path'

/**
 * Test files that start a whole installation, a control plane or a browser run one at a time, beside the others. The value is
 * how many seconds one takes on two cores, for a machine that has not measured it yet.
 */
const IN_TURN: Readonly<Record<string, number>> = {
  'test/cluster/worker-pool.test.ts': 130,
  'test/observability/watched.test.ts': 110,
  'test/cluster/install/install.test.ts': 150,
  'test/cluster/install/images.test.ts': 60,
  'test/playground-flow.test.ts': 60,
  'test/chart/lifecycle.test.ts': 50,
  'test/widget/faults.test.ts': 50,
  'test/widget/flow.test.ts': 40,
  'test/dashboard-flow.test.ts': 35,
  'test/dashboard-sign-on-flow.test.ts': 35,
  'test/widget/looks.test.ts': 30,
  'test/storefront-flow.test.ts': 10,
  'test/client/browser.test.ts': 10,
  'test/cluster/**': 10,
}
/** Seconds of other long files, so that no worker begins one at the end. */
const LONG: Readonly<Record<string, number>> = {
  'test/faults/faults.test.ts': 500,
  'test/flow.test.ts': 180,
  'test/scripts/stack/dev.test.ts': 170,
  'test/worker/engines/warp/dress-lower.test.ts': 150,
  'test/worker/engines/warp/quality.test.ts': 140,
  'test/telemetry.test.ts': 140,
  'test/api/retention.test.ts': 120,
}
const UNKNOWN_SECONDS = 8

/** Whether a test file, by its path from the clone's folder, waits until no other of its kind runs. */
export function isInTurn(path: string): boolean {
  return estimateInTurn(path) !== undefined
}

/**
 * The order in which workers take the files from one queue: one file in turn after the other, the longest first, and the other
 * files beside them, the longest first, so that no worker begins a long file at the end.
 */
export function orderFiles(
  paths: readonly string[],
  { workers, durations }: { workers: number; durations: Readonly<Record<string, number>> },
): string[] {
  const files = paths
    .map((path) => ({ path, seconds: durations[path] ?? estimateInTurn(path) ?? LONG[path] ?? UNKNOWN_SECONDS }))
    .sort((a, b) => b.seconds - a.seconds)
  const begun: { path: string; at: number }[] = []
  const place = (all: typeof files, lanes: number[]) => {
    for (const { path, seconds } of all) {
      const lane = lanes.indexOf(Math.min(...lanes))
      begun.push({ path, at: lanes[lane] })
      lanes[lane] += seconds
    }
  }
  place(
    files.filter(({ path }) => isInTurn(path)),
    [0],
  )
  place(
    files.filter(({ path }) => !isInTurn(path)),
    Array.from({ length: Math.max(1, workers - 1) }, () => 0),
  )
  return begun.sort((a, b) => a.at - b.at).map(({ path }) => path)
}

function estimateInTurn(path: string): number | undefined {
  return Object.entries(IN_TURN).find(([glob]) => matchesGlob(path, glob))?.[1]
}
