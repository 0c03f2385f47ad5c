import type { TestProject } from 'vitest/node'
import { offerServices } from './services.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the services for test files; see `services.ts`. */
    servicesUrl: string
  }
}

/** Runs once before the first test file. The returned function runs after the last one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const services = await offerServices()
  project.provide('servicesUrl', services.url)
  return services.stop
}
