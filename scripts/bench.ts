import { parseArgs } from 'node:util'
import { answerTimes } from './benchmarks/answer-times.ts'
import { startBench } from './benchmarks/bench.ts'
import { type Benchmark, type Result, runBenchmark } from './benchmarks/benchmark.ts'
import { checkCredits } from './benchmarks/check-credits.ts'
import { sendEvents } from './benchmarks/events.ts'
import { getGeneration } from './benchmarks/get-generation.ts'
import { hotAccount } from './benchmarks/hot-account.ts'
import { leaveProcessor } from './benchmarks/pinning.ts'
import { postTryOn } from './benchmarks/post-try-on.ts'
import { statementsPerGeneration } from './benchmarks/statements.ts'
import { presentTable } from './benchmarks/table.ts'
import { warpJob } from './benchmarks/warp-job.ts'
import { ROOT, say } from './stack/session.ts'

const BENCHMARKS: readonly Benchmark[] = [
  postTryOn,
  warpJob,
  getGeneration,
  checkCredits,
  sendEvents,
  hotAccount,
  statementsPerGeneration,
  ...answerTimes,
]

const { values, positionals } = parseArgs({ allowPositionals: true, options: { json: { type: 'boolean' } } })
const results = await runAll(chooseBenchmarks(positionals))
console.log(values.json ? JSON.stringify(results) : presentTable(results))

function chooseBenchmarks(ids: readonly string[]): readonly Benchmark[] {
  const unknown = ids.filter((id) => !BENCHMARKS.some((benchmark) => benchmark.id === id))
  if (unknown.length > 0) {
    say(`There is no benchmark ${unknown.join(', ')}; there are ${BENCHMARKS.map(({ id }) => id).join(', ')}.`)
    process.exit(2)
  }
  return ids.length === 0 ? BENCHMARKS : BENCHMARKS.filter(({ id }) => ids.includes(id))
}

async function runAll(benchmarks: readonly Benchmark[]): Promise<Result[]> {
  leaveProcessor()
  const bench = await startBench({ root: ROOT, say })
  try {
    const done: Result[] = []
    for (const benchmark of benchmarks) {
      say(`${benchmark.id}: ${benchmark.what} …`)
      done.push(await runBenchmark(benchmark, bench))
    }
    return done
  } finally {
    await bench.stop()
  }
}
