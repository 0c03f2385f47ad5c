import type { Feature } from '../feature.ts'

/** Pages for holders of an API key. */
export const playground: Feature = {
  name: 'playground',
  links: [
    {
      name: 'playground',
      path: '/playground',
      title: 'Playground',
      text: 'Try a product on a photo. Needs an API key.',
    },
    {
      name: 'analytics',
      path: '/analytics',
      title: 'Analytics',
    },
  ],
  start: async ({ config, storage }) => {
    const { playgroundRoutes } = await import('./playground.routes.ts')
    return { routes: [playgroundRoutes({ serviceName: config.SERVICE_NAME, storage })] }
  },
}
