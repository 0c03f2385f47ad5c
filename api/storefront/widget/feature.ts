import type { Feature } from '../../feature.ts'

/** The script with which pages of shops offer try-ons. */
export const widget: Feature = {
  name: 'widget',
  start: async () => {
    const { widgetRoutes } = await import('./widget.routes.ts')
    return { routes: [widgetRoutes()] }
  },
}
