/** Page that shows the form of each action. The path of the page is a prefix of the path of the action. */
export const FORM_PAGES: Readonly<Record<string, string>> = {
  '/second-factor/start': '/second-factor',
  '/second-factor/confirm': '/second-factor',
  '/second-factor/recovery-codes': '/second-factor',
  '/second-factor/remove': '/second-factor',
  '/accounts': '/accounts/new',
  '/accounts/:id': '/accounts/:id',
  '/accounts/:id/active': '/accounts/:id',
  '/accounts/:id/credits': '/accounts/:id',
  '/accounts/:id/keys': '/accounts/:id',
  '/accounts/:id/keys/:key/rotate': '/accounts/:id',
  '/accounts/:id/keys/:key/revoke': '/accounts/:id',
  '/accounts/:id/logo': '/accounts/:id',
  '/accounts/:id/logo/remove': '/accounts/:id',
  '/shops': '/shops/new',
  '/shops/:id': '/shops/:id',
  '/shops/:id/secrets': '/shops/:id',
  '/shops/:id/secrets/remove': '/shops/:id',
  '/shops/:id/policies': '/shops/:id',
  '/leads/:shop/export': '/leads/:shop',
  '/leads/:shop/retry': '/leads/:shop',
  '/leads/:shop/delete': '/leads/:shop',
  '/removals/:id/images': '/removals/:id',
  '/removals/:id/erase': '/removals/:id',
  '/removals/:id/decline': '/removals/:id',
  '/reviews/:id/decide': '/reviews/:id',
  '/blocks/remove': '/blocks',
  '/generations/:id/image': '/generations/:id',
  '/generations/:id/cancel': '/generations/:id',
  '/webhooks': '/webhooks/new',
  '/webhooks/:id': '/webhooks/:id',
  '/webhooks/:id/test': '/webhooks/:id',
  '/webhooks/:id/delete': '/webhooks/:id',
  '/webhooks/:id/secrets': '/webhooks/:id',
  '/webhooks/:id/secrets/remove': '/webhooks/:id',
  '/webhooks/:id/deliveries/:delivery/retry': '/webhooks/:id',
  '/operators': '/operators',
  '/operators/:id': '/operators',
  '/operators/:id/second-factor/reset': '/operators',
}
/** Pages of the forms before there is a session. */
const SIGN_IN_PAGES: Readonly<Record<string, string>> = { '/sign-in': '/sign-in', '/sign-in/code': '/sign-in/code' }
/** Pages with a filter or search form. */
const SEARCH_PAGES = /^\/(accounts|generations|products|audit|accounts\/[^/]+\/requests)$/

const PATTERNS = Object.entries({ ...FORM_PAGES, ...SIGN_IN_PAGES }).map(([action, page]) => ({
  pattern: new RegExp(`^${action.replaceAll(/:\w+/g, '[^/]+')}$`),
  page,
}))

/** Whether the page has a filter or search form. */
export function isSearchPage(path: string): boolean {
  return SEARCH_PAGES.test(path)
}

/** Path of the page that shows the form of this action; null for a path without a form. */
export function findFormPage(action: string): string | null {
  const found = PATTERNS.find(({ pattern }) => pattern.test(action))
  if (found === undefined) return null
  const given = action.split('/')
  return found.page
    .split('/')
    .map((part, i) => (part.startsWith(':') ? given[i] : part))
    .join('/')
}
