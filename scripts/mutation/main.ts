import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { run } from '../stack/commands.ts'
import { ROOT } from '../stack/session.ts'
import { reach, readGraph } from '../testing/graph.ts'
import { copyTree } from './copy.ts'
import { sample, scoreFile } from './score.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    tests: { type: 'string', multiple: true },
    sample: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    'min-score': { type: 'string', default: '0' },
  },
})
const folder = await copyTree(ROOT)
try {
  for (const path of positionals) await report(path)
} finally {
  await rm(folder, { recursive: true })
}

async function report(path: string): Promise<void> {
  const tests = values.tests ?? (await findTests(path))
  const score = await scoreFile(folder, path, {
    tests,
    choose: (mutants) => sample(mutants, Number(values.sample), Number(values.seed)),
  })
  const percent = score.mutants === 0 ? 100 : (100 * score.killed) / score.mutants
  console.log(`${path}: ${percent.toFixed(1)} % (${score.killed} of ${score.mutants}; seed ${values.seed})`)
  for (const line of score.survivors) console.log(`  ${line}`)
  if (percent < Number(values['min-score'])) process.exitCode = 1
}

/** The tests in the folder of the same name that import the file directly or indirectly. */
async function findTests(path: string): Promise<string[]> {
  const paths = (await run('git', ['ls-files'], { cwd: ROOT })).split('\n').filter(Boolean)
  const graph = readGraph(paths)
  const near = paths.filter((test) => test.startsWith(`test/${dirname(path)}/`) && test.endsWith('.test.ts'))
  const tests = near.filter((test) => reach(graph, test, 'import').has(path))
  if (tests.length === 0)
    throw new Error(`No test in test/${dirname(path)} imports ${path}: name its tests with --tests.`)
  return tests
}
