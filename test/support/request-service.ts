import { inject } from 'vitest'
import type { ServiceRequests } from './services.ts'

/** Sends a request to the services of all test files. */
export async function requestService<K extends keyof ServiceRequests>(
  name: K,
  body: ServiceRequests[K]['body'],
): Promise<ServiceRequests[K]['answer']> {
  const answer = await fetch(`${inject('servicesUrl')}/${name}`, { method: 'POST', body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`No ${name} for this test: ${await answer.text()}`)
  return (await answer.json()) as ServiceRequests[K]['answer']
}
