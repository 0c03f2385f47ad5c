import type { TestProject } from 'vitest/node'
import { offerServices } from './services.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where test files ask for what they need; see `services.ts`. */
    servicesUrl: string
  }
}

/** Runs once before the first test file. What it returns runs after the last one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const services = await offerServices()
  project.provide('servicesUrl', services.url)
  return services.stop
}
