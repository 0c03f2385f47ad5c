import { execFile } from 'node:child_process'
import { expect, it } from 'vitest'
import { ROOT } from '../scripts/stack/session.ts'

/** Prints the URL of each module that the program loads. */
const PRINT_MODULES = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) })`)}`
/** Of image verification. They take 0.2 s to load. */
const VERIFICATION = ['@trustnxt/c2pa-ts', '@peculiar/x509']

it.each([
  ['the command line', ['scripts/drape.ts', 'account', 'list'], [...VERIFICATION, 'undici'], 'commander'],
  ['the routes of the API', ['--eval', `import('./api/routes/routes.ts')`], VERIFICATION, '@fastify/busboy'],
])('%s loads packages that few calls need only for these calls', async (_, program, rare, always) => {
  const loaded = await new Promise<string>((resolve) => {
    const env = { ...process.env, DATABASE_URL: '' }
    const options = { cwd: ROOT, env, maxBuffer: 10_000_000 }
    execFile(process.execPath, ['--import', PRINT_MODULES, ...program], options, (_error, _output, stderr) =>
      resolve(stderr),
    )
  })
  const packages = new Set(Array.from(loaded.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g), ([, name]) => name))
  expect(packages).toContain(always)
  expect(rare.filter((name) => packages.has(name))).toEqual([])
})
