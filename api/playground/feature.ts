import type { Feature } from '../feature.ts'

/** A page for holders of an API key. */
export const playground: Feature = {
  name: 'playground',
  links: [
    {
      name: 'playground',
      path: '/playground',
      title: 'Playground',
      text: 'Try a product on a photo. Needs an API key.',
    },
  ],
  start: async ({ config, storage, hasFeature }) => {
    const { playgroundRoutes } = await import('./playground.routes.ts')
    return {
      routes: [playgroundRoutes({ serviceName: config.SERVICE_NAME, storage, hasOutfits: hasFeature('outfits') })],
    }
  },
}
