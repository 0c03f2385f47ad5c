import type { TestProject } from 'vitest/node'
import { offerInference } from './inference-pool.ts'
import { offerServices } from './services.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the services for test files; see `services.ts`. */
    servicesUrl: string
    /** Port of the pool of inference processes; see `inference-pool.ts`. */
    inferencePort: number
  }
}

/** Runs once before the first test file. The returned function runs after the last one. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [services, inference] = await Promise.all([offerServices(), offerInference()])
  project.provide('servicesUrl', services.url)
  project.provide('inferencePort', inference.port)
  return () => {
    inference.stop()
    return services.stop()
  }
}
