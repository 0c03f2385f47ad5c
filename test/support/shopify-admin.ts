import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { ShopRecord } from '../../api/shops/shops.store.ts'
import { executeGraphql, type GraphqlError, type Schema } from './graphql.ts'

export interface AdminCustomer {
  id: string
  email: string
  tags: string[]
  /** NOT_SUBSCRIBED, SUBSCRIBED, UNSUBSCRIBED. */
  marketingState: string
}

export interface AdminVariant {
  readonly id: string
  readonly images: readonly string[]
}

export interface AdminProduct {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly images: readonly string[]
  readonly variants?: readonly AdminVariant[]
  /** ACTIVE by default; DRAFT, ARCHIVED. */
  readonly status?: string
  /** Null for an unpublished product; a date by default. */
  readonly publishedAt?: string | null
}

/** The tokens of shops without a client ID. */
export function createEndlessTokens(mark: (what: string) => void = () => {}) {
  return {
    find: async ({ adminToken: token }: ShopRecord) => (token === null ? null : { token, stored: token }),
    refuse: async () => mark('refused'),
    accept: async () => mark('accepted'),
  }
}

/** One reaction of the server instead of a response. */
export type Mishap =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | { readonly throttled: { readonly requested: number; readonly available: number } }
  | 'hang'
  | 'hang up'
  | 'endless'

export interface ShopifyAdminServer {
  readonly url: string
  /** Token that the API accepts. A grant replaces it. */
  token: string
  /** The app to which the server gives tokens, and their lifetime. */
  readonly app: { clientId: string; secrets: string[]; refreshToken: string | null; seconds: number }
  /** Requests for a token. */
  readonly grants: Readonly<Record<string, string>>[]
  readonly products: AdminProduct[]
  readonly customers: AdminCustomer[]
  readonly segments: { name: string; query: string }[]
  /** Access scopes that the token has. */
  readonly scopes: Set<string>
  /** Reactions to the next requests, one each. */
  readonly mishaps: Mishap[]
  /** Called before each operation that is executed, with its name; before the response of a grant with `grant`. */
  before: (operation: string) => unknown
  /** Names of the operations that were executed. */
  readonly operations: string[]
  stop(): Promise<void>
}

const RESTORE_RATE = 50

/**
 * The GraphQL Admin API of a store, version 2026-07, as far as Drape uses it: executes documents that match its schema, as
 * documented. Gives tokens by client credentials, and by a refresh token that it accepts until its successor is used.
 * (shopify.dev: GraphQL Admin API, API limits, Client credentials grant, Offline access tokens)
 */
export async function startShopifyAdmin(): Promise<ShopifyAdminServer> {
  const server = createServer(async (request, response) => {
    const mishap = admin.mishaps.shift()
    if (mishap === 'hang') return
    if (mishap === 'hang up') return void request.destroy()
    response.setHeader('Content-Type', 'application/json; charset=utf-8')
    if (mishap === 'endless') {
      response.on('drain', () => response.write('x'.repeat(65_536)))
      return void response.write('x'.repeat(1_000_000))
    }
    if (mishap !== undefined && 'status' in mishap) {
      return void response.writeHead(mishap.status, mishap.headers).end(mishap.body ?? '{"errors":"x"}')
    }
    if (mishap !== undefined) return void response.end(JSON.stringify(throttled(mishap.throttled)))
    if (request.method === 'POST' && request.url === '/admin/oauth/access_token') {
      return void (await grantToken(admin, (await json(request)) as Record<string, string>, response))
    }
    if (request.method !== 'POST' || request.url !== '/admin/api/2026-07/graphql.json') {
      return void response.writeHead(404).end('{"errors":"Not Found"}')
    }
    if (request.headers['x-shopify-access-token'] !== admin.token) {
      const errors = '[API] Invalid API key or access token (unrecognized login or wrong password)'
      return void response.writeHead(401).end(JSON.stringify({ errors }))
    }
    if (request.headers['content-type'] !== 'application/json') {
      return void response.writeHead(415).end('{"errors":"Unsupported Media Type"}')
    }
    const { query, variables } = (await json(request)) as { query: string; variables: Record<string, unknown> }
    const answer = executeGraphql(schemaOf(admin), query, variables, (name) => {
      admin.before(name)
      admin.operations.push(name)
    })
    const cost = { requestedQueryCost: 12, actualQueryCost: 3, throttleStatus: bucket(988) }
    response.end(JSON.stringify({ ...answer, extensions: { cost } }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const admin: ShopifyAdminServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: 'shpat_0123456789abcdef',
    app: { clientId: 'client-1', secrets: ['a secret of the app'], refreshToken: null, seconds: 86_399 },
    grants: [],
    products: [],
    customers: [],
    segments: [],
    scopes: new Set(['read_products', 'read_customers', 'write_customers']),
    mishaps: [],
    before: () => {},
    operations: [],
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return admin
}

async function grantToken(admin: ShopifyAdminServer, asked: Record<string, string>, response: ServerResponse) {
  admin.grants.push(asked)
  const { app } = admin
  const fail = (error: string) => response.writeHead(400).end(JSON.stringify({ error }))
  if (asked.client_id !== app.clientId || !app.secrets.includes(asked.client_secret)) return fail('invalid_client')
  const isRefresh = asked.grant_type === 'refresh_token'
  if (isRefresh ? app.refreshToken === null : asked.grant_type !== 'client_credentials') return fail('invalid_grant')
  const successor = `${app.refreshToken}+`
  if (isRefresh && asked.refresh_token === successor) app.refreshToken = successor
  else if (isRefresh && asked.refresh_token !== app.refreshToken) return fail('invalid_grant')
  admin.token = `shpat_of_grant_${admin.grants.length}`
  await admin.before('grant')
  return response.end(
    JSON.stringify({
      access_token: admin.token,
      scope: [...admin.scopes].join(','),
      expires_in: app.seconds,
      ...(isRefresh && { refresh_token: `${app.refreshToken}+`, refresh_token_expires_in: 7_776_000 }),
    }),
  )
}

function bucket(currentlyAvailable: number) {
  return { maximumAvailable: 1000, currentlyAvailable, restoreRate: RESTORE_RATE }
}

function throttled({ requested, available }: { requested: number; available: number }) {
  return {
    errors: [
      {
        message: 'Throttled',
        extensions: { code: 'THROTTLED', documentation: 'https://shopify.dev/api/usage/rate-limits' },
      },
    ],
    extensions: {
      cost: { requestedQueryCost: requested, actualQueryCost: null, throttleStatus: bucket(available) },
    },
  }
}

function schemaOf(admin: ShopifyAdminServer): Schema {
  const needs = (scope: string, field: string) => {
    if (admin.scopes.has(scope)) return
    const error: GraphqlError = {
      message: `Access denied for ${field} field. Required access: \`${scope}\` access scope.`,
      code: 'ACCESS_DENIED',
    }
    throw error
  }
  const findCustomer = (email: unknown) =>
    admin.customers.find((customer) => customer.email.toLowerCase() === String(email).toLowerCase())
  const findById = (id: unknown) => admin.customers.find((customer) => customer.id === id)
  const media = (images: readonly string[]) => ({
    // A video among the images.
    nodes: [
      ...images.map((url) => ({ __typename: 'MediaImage', image: { url } })),
      { __typename: 'Video', image: undefined },
    ],
  })
  const present = (customer: AdminCustomer | undefined) =>
    customer && { ...customer, defaultEmailAddress: { marketingState: customer.marketingState } }
  const userError = (field: string[] | null, message: string) => ({ userErrors: [{ field, message }] })

  return {
    query: {
      product: {
        type: 'Product',
        arguments: { id: 'ID!' },
        resolve: ({ id }) => {
          needs('read_products', 'product')
          const product = admin.products.find((known) => known.id === id)
          return product
            ? { status: 'ACTIVE', publishedAt: '2026-01-01T00:00:00Z', ...product, media: media(product.images) }
            : null
        },
      },
      productVariant: {
        type: 'ProductVariant',
        arguments: { id: 'ID!' },
        resolve: ({ id }) => {
          needs('read_products', 'productVariant')
          for (const product of admin.products) {
            const variant = product.variants?.find((known) => known.id === id)
            if (variant) return { ...variant, product: { id: product.id }, media: media(variant.images) }
          }
          return null
        },
      },
      customerByIdentifier: {
        type: 'Customer',
        arguments: { identifier: 'CustomerIdentifierInput!' },
        resolve: ({ identifier }) => {
          needs('read_customers', 'customerByIdentifier')
          return present(findCustomer((identifier as { emailAddress: string }).emailAddress)) ?? null
        },
      },
      segments: {
        type: 'SegmentConnection',
        arguments: { first: 'Int', query: 'String' },
        resolve: () => {
          needs('read_customers', 'segments')
          return { nodes: admin.segments }
        },
      },
    },
    mutation: {
      customerCreate: {
        type: 'UserErrors',
        arguments: { input: 'CustomerInput!' },
        resolve: (variables) => {
          needs('write_customers', 'customerCreate')
          const input = variables.input as { email: string; tags: string[]; emailMarketingConsent?: Consent }
          if (!/^[^@\s]+@[^@\s]+\.\w+$/.test(input.email)) return userError(['email'], 'Email is invalid')
          if (findCustomer(input.email)) return userError(['email'], 'Email has already been taken')
          admin.customers.push({
            id: `gid://shopify/Customer/${admin.customers.length + 1}`,
            email: input.email,
            tags: input.tags,
            marketingState: stateOf(input.emailMarketingConsent) ?? 'NOT_SUBSCRIBED',
          })
          return { userErrors: [] }
        },
      },
      tagsAdd: {
        type: 'UserErrors',
        arguments: { id: 'ID!', tags: '[String!]!' },
        resolve: ({ id, tags }) => {
          needs('write_customers', 'tagsAdd')
          const customer = findById(id)
          if (!customer) return userError(null, 'Customer not found')
          customer.tags = [...new Set([...customer.tags, ...(tags as string[])])]
          return { userErrors: [] }
        },
      },
      customerEmailMarketingConsentUpdate: {
        type: 'UserErrors',
        arguments: { input: 'CustomerEmailMarketingConsentUpdateInput!' },
        resolve: ({ input }) => {
          needs('write_customers', 'customerEmailMarketingConsentUpdate')
          const { customerId, emailMarketingConsent } = input as { customerId: string; emailMarketingConsent: Consent }
          const customer = findById(customerId)
          const state = stateOf(emailMarketingConsent)
          if (!customer || !state) return userError(['input', 'customerId'], 'Customer not found')
          customer.marketingState = state
          return { userErrors: [] }
        },
      },
      segmentCreate: {
        type: 'UserErrors',
        arguments: { name: 'String!', query: 'String!' },
        resolve: ({ name, query }) => {
          needs('write_customers', 'segmentCreate')
          if (admin.segments.some((segment) => segment.name === name)) {
            return userError(['name'], 'Name has already been taken')
          }
          if (!/^customer_tags CONTAINS '[\w-]+'$/.test(String(query))) return userError(['query'], 'Query is invalid')
          admin.segments.push({ name: String(name), query: String(query) })
          return { userErrors: [] }
        },
      },
    },
    types: {
      Product: {
        id: 'ID',
        title: 'String',
        description: 'String',
        status: 'String',
        publishedAt: 'DateTime',
        media: 'MediaConnection',
      },
      ProductVariant: { id: 'ID', product: 'Product', media: 'MediaConnection' },
      MediaConnection: { nodes: 'Media' },
      Media: {},
      MediaImage: { id: 'ID', image: 'Image' },
      Video: { id: 'ID' },
      Image: { url: 'URL' },
      Customer: { id: 'ID', tags: 'String', defaultEmailAddress: 'CustomerEmailAddress' },
      CustomerEmailAddress: { marketingState: 'String' },
      SegmentConnection: { nodes: 'Segment' },
      Segment: { id: 'ID', name: 'String', query: 'String' },
      UserErrors: { userErrors: 'UserError' },
      UserError: { field: 'String', message: 'String' },
    },
    inputs: {
      CustomerIdentifierInput: ['emailAddress', 'id', 'phoneNumber', 'customId'],
      CustomerInput: ['email', 'tags', 'emailMarketingConsent', 'firstName', 'lastName'],
      CustomerEmailMarketingConsentUpdateInput: ['customerId', 'emailMarketingConsent'],
    },
  }
}

interface Consent {
  readonly marketingState: string
  readonly marketingOptInLevel?: string
}

function stateOf(consent: Consent | undefined): string | undefined {
  return ['SUBSCRIBED', 'UNSUBSCRIBED', 'PENDING'].find((state) => state === consent?.marketingState)
}
