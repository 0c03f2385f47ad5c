import { createConsents } from '../consents/consents.store.ts'
import type { Feature } from '../feature.ts'
import { mount } from '../http/mount.ts'
import { outfitRoutes } from './outfits.routes.ts'

/** Try-ons of several products at once. */
export const outfits: Feature = {
  name: 'outfits',
  operations: outfitRoutes,
  start: (core) => ({ routes: [mount(outfitRoutes, { ...core, consents: createConsents(core.database) })] }),
}
