import { afterAll, beforeAll } from 'vitest'

// Files share a process, and start programs with its environment: what one sets must not reach the next. Registered before all others, so
// it runs after all others.
let before: NodeJS.ProcessEnv
beforeAll(() => {
  before = { ...process.env }
})
afterAll(() => {
  for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name]
  Object.assign(process.env, before)
})
