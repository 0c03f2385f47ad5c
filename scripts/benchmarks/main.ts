import { parseArgs } from 'node:util'
import { ROOT, say } from '../stack/session.ts'
import { startBench } from './bench.ts'
import { type Benchmark, runBenchmarks } from './benchmark.ts'
import { checkCredits } from './check-credits.ts'
import { decodes } from './decodes.ts'
import { eventLoopGap } from './event-loop.ts'
import { sendEvents } from './events.ts'
import { garmentCache } from './garment-cache.ts'
import { getGeneration } from './get-generation.ts'
import { hotAccount } from './hot-account.ts'
import { jobMemory } from './job-memory.ts'
import { nameTimes } from './names.ts'
import { oldRows } from './old-rows.ts'
import { operator } from './operator.ts'
import { heicTime, photoTime } from './photos.ts'
import { leaveProcessor } from './pinning.ts'
import { postTryOn } from './post-try-on.ts'
import { acceptedAgainstQueue, pickedUp, relayed } from './queue.ts'
import { scraped } from './scrape.ts'
import { statementsPerGeneration } from './statements.ts'
import { presentOutcome, presentTable } from './table.ts'
import { telemetryCost } from './telemetry-cost.ts'
import { uploadCopies, uploadMemory, uploadTime } from './uploads.ts'
import { waitEstimates } from './wait-estimates.ts'
import { warpJob } from './warp-job.ts'
import { connections, idleCommands, redisCommands, storageCalls } from './work-counts.ts'

const BENCHMARKS: readonly Benchmark[] = [
  postTryOn,
  acceptedAgainstQueue,
  relayed,
  pickedUp,
  telemetryCost,
  uploadTime,
  uploadMemory,
  eventLoopGap,
  photoTime,
  heicTime,
  warpJob,
  getGeneration,
  checkCredits,
  sendEvents,
  ...nameTimes,
  hotAccount,
  oldRows,
  scraped,
  garmentCache,
  jobMemory,
  statementsPerGeneration,
  redisCommands,
  storageCalls,
  decodes,
  idleCommands,
  connections,
  uploadCopies,
  ...waitEstimates,
  ...operator,
]

const USAGE = `Usage: scripts/bench [--json] [--smallest | --full] [ID…]   runs the benchmarks with these ids, or all
       scripts/bench quality [--sheet FILE]                measures the quality of the default engine
       scripts/bench gpu                                   measures an engine with model files`

const { values, positionals } = readArguments()
if (values.help) {
  console.log(USAGE)
  process.exit(0)
}
const benchmarks = chooseBenchmarks(positionals)
leaveProcessor()
const shared = await startBench({ root: ROOT, say })
const outcome = await runBenchmarks(benchmarks, shared, {
  onStart: ({ id, what }) => say(`${id}: ${what} …`),
  onResult: (result) => say(presentTable([result])),
}).finally(() => shared.stop())
console.log(values.json ? JSON.stringify(outcome) : presentOutcome(outcome))
// A benchmark that did not end still waits.
process.exit(outcome.failed.length > 0 ? 1 : 0)

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        // Read by size.ts.
        smallest: { type: 'boolean' },
        full: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    say(`${error instanceof Error ? error.message : error}\n${USAGE}`)
    process.exit(2)
  }
}

function chooseBenchmarks(ids: readonly string[]): readonly Benchmark[] {
  const unknown = ids.filter((id) => !BENCHMARKS.some((benchmark) => benchmark.id === id))
  if (unknown.length > 0) {
    say(`The benchmark ${unknown.join(', ')} does not exist. Benchmarks: ${BENCHMARKS.map(({ id }) => id).join(', ')}.`)
    process.exit(2)
  }
  return ids.length === 0 ? BENCHMARKS : BENCHMARKS.filter(({ id }) => ids.includes(id))
}
