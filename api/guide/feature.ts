import type { Feature } from '../feature.ts'

/** The documentation of the installation. */
export const guide: Feature = {
  name: 'guide',
  links: [
    { name: 'reference', path: '/docs', title: 'API reference', text: 'Every operation, with examples.' },
    { name: 'guide', path: '/guide', title: 'Guide', text: 'Quickstarts, concepts and operation.' },
  ],
  start: async ({ config, document }) => {
    const { guideRoutes } = await import('./guide.routes.ts')
    const { SERVICE_NAME: serviceName, PUBLIC_URL: publicUrl } = config
    return { routes: [guideRoutes({ serviceName, publicUrl, document })] }
  },
}
