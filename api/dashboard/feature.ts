import type { Feature } from '../feature.ts'

/** The pages of operators, on a port of their own. */
export const dashboard: Feature = {
  name: 'dashboard',
  start: async (core) => {
    const { serveDashboard } = await import('./serve.ts')
    await serveDashboard(core)
    return {}
  },
}
