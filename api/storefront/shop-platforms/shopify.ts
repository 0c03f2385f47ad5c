import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import type { ShopRecord } from '../../shops/shops.store.ts'
import { LEADS_SEGMENT, LEADS_TAG, type Lead, type PlatformProduct, type ShopPlatform } from './shop-platform.ts'
import { type AdminOperation, adminOperation, refusedFields, type ShopifyAdmin, UserErrors } from './shopify-admin.ts'

/**
 * Shops on Shopify, through the GraphQL Admin API. Needs the scopes `read_products`, `read_customers` and `write_customers`.
 */
export function createShopifyPlatform(admin: ShopifyAdmin): ShopPlatform {
  return {
    findProduct: (shop, productId, variantId) => findProduct(admin, shop, { productId, variantId }),
    keepLead: (shop, lead) => keepLead(admin, shop, lead),
  }
}

const PRODUCT_GID = /^gid:\/\/shopify\/Product\/\d{1,20}$/
const VARIANT_GID = /^gid:\/\/shopify\/ProductVariant\/\d{1,20}$/

// Media other than images are empty objects.
const Media = Type.Object({
  nodes: Type.Array(Type.Object({ image: Type.Optional(Nullable(Type.Object({ url: Type.String() }))) })),
})

const PRODUCT = `
    product(id: $productId) {
      title
      description
      status
      publishedAt
      media(first: 20) { nodes { ... on MediaImage { image { url } } } }
    }`

const Product = Nullable(
  Type.Object({
    title: Type.String(),
    description: Type.String(),
    status: Type.String(),
    publishedAt: Nullable(Type.String()),
    media: Media,
  }),
)

const productQuery = adminOperation(
  `query product($productId: ID!) {${PRODUCT}
  }`,
  Type.Object({ product: Product }),
)

const variantQuery = adminOperation(
  `query variant($productId: ID!, $variantId: ID!) {${PRODUCT}
    productVariant(id: $variantId) {
      product { id }
      media(first: 5) { nodes { ... on MediaImage { image { url } } } }
    }
  }`,
  Type.Object({
    product: Product,
    productVariant: Nullable(Type.Object({ product: Type.Object({ id: Type.String() }), media: Media })),
  }),
)

async function findProduct(
  admin: ShopifyAdmin,
  shop: ShopRecord,
  { productId, variantId }: { productId: string; variantId: string | null },
): Promise<PlatformProduct | null> {
  if (!PRODUCT_GID.test(productId)) return null
  const { product, productVariant: variant } =
    variantId !== null && VARIANT_GID.test(variantId)
      ? await admin(shop, variantQuery, { productId, variantId })
      : { ...(await admin(shop, productQuery, { productId })), productVariant: null }
  // Drafts and withdrawn products must not be visible to shoppers, who can name any ID.
  if (product === null || product.status !== 'ACTIVE' || product.publishedAt === null) return null
  const ofVariant = variant?.product.id === productId ? urlsOf(variant.media) : []
  return {
    title: product.title,
    description: product.description === '' ? null : product.description,
    imageUrls: [...new Set([...ofVariant, ...urlsOf(product.media)])],
  }
}

function urlsOf({ nodes }: Static<typeof Media>): string[] {
  return nodes.flatMap(({ image }) => (image ? [image.url] : []))
}

const Customer = Type.Object({
  id: Type.String(),
  tags: Type.Array(Type.String()),
  defaultEmailAddress: Nullable(Type.Object({ marketingState: Type.String() })),
})

const leadQuery = adminOperation(
  `query lead($email: String!, $segments: String!) {
    customerByIdentifier(identifier: { emailAddress: $email }) {
      id
      tags
      defaultEmailAddress { marketingState }
    }
    segments(first: 250, query: $segments) { nodes { name } }
  }`,
  Type.Object({
    customerByIdentifier: Nullable(Customer),
    segments: Type.Object({ nodes: Type.Array(Type.Object({ name: Type.String() })) }),
  }),
)

async function keepLead(admin: ShopifyAdmin, shop: ShopRecord, lead: Lead): Promise<void> {
  const ask: Ask = (operation, variables) => admin(shop, operation, variables)
  const { customer, hasSegment } = await findLead(ask, lead)
  await (customer === null ? createCustomer(ask, lead) : updateCustomer(ask, { customer, lead }))
  if (!hasSegment) await createSegment(ask, lead)
}

type Ask = <T>(operation: AdminOperation<T>, variables: object) => Promise<T>

async function findLead(ask: Ask, { email }: Lead) {
  const { customerByIdentifier: customer, segments } = await ask(leadQuery, {
    email,
    segments: `name:'${LEADS_SEGMENT}'`,
  })
  return { customer, hasSegment: segments.nodes.some(({ name }) => name === LEADS_SEGMENT) }
}

const CONSENT = { marketingState: 'SUBSCRIBED', marketingOptInLevel: 'SINGLE_OPT_IN' }

const customerCreation = adminOperation(
  `mutation createCustomer($input: CustomerInput!) {
    customerCreate(input: $input) { userErrors { field message } }
  }`,
  Type.Object({ customerCreate: Type.Object({ userErrors: UserErrors }) }),
)

async function createCustomer(ask: Ask, lead: Lead): Promise<void> {
  const input = {
    email: lead.email,
    tags: [LEADS_TAG],
    ...(lead.marketingConsent && { emailMarketingConsent: CONSENT }),
  }
  const { userErrors } = (await ask(customerCreation, { input })).customerCreate
  if (userErrors.length === 0) return
  // A concurrent request may have created a customer with this address.
  const { customer } = await findLead(ask, lead)
  if (customer === null) throw refusedFields(userErrors)
  await updateCustomer(ask, { customer, lead })
}

const tagging = adminOperation(
  `mutation tagCustomer($id: ID!, $tags: [String!]!) {
    tagsAdd(id: $id, tags: $tags) { userErrors { field message } }
  }`,
  Type.Object({ tagsAdd: Type.Object({ userErrors: UserErrors }) }),
)

const consenting = adminOperation(
  `mutation consent($input: CustomerEmailMarketingConsentUpdateInput!) {
    customerEmailMarketingConsentUpdate(input: $input) { userErrors { field message } }
  }`,
  Type.Object({ customerEmailMarketingConsentUpdate: Type.Object({ userErrors: UserErrors }) }),
)

/** A form without consent does not withdraw earlier consent. */
async function updateCustomer(
  ask: Ask,
  { customer, lead }: { customer: Static<typeof Customer>; lead: Lead },
): Promise<void> {
  const { id, tags, defaultEmailAddress: address } = customer
  if (!tags.includes(LEADS_TAG)) {
    const { userErrors } = (await ask(tagging, { id, tags: [LEADS_TAG] })).tagsAdd
    if (userErrors.length > 0) throw refusedFields(userErrors)
  }
  if (lead.marketingConsent && address?.marketingState !== CONSENT.marketingState) {
    const input = { customerId: id, emailMarketingConsent: CONSENT }
    const { userErrors } = (await ask(consenting, { input })).customerEmailMarketingConsentUpdate
    if (userErrors.length > 0) throw refusedFields(userErrors)
  }
}

const segmentCreation = adminOperation(
  `mutation createSegment($name: String!, $query: String!) {
    segmentCreate(name: $name, query: $query) { userErrors { field message } }
  }`,
  Type.Object({ segmentCreate: Type.Object({ userErrors: UserErrors }) }),
)

async function createSegment(ask: Ask, lead: Lead): Promise<void> {
  const query = `customer_tags CONTAINS '${LEADS_TAG}'`
  const { userErrors } = (await ask(segmentCreation, { name: LEADS_SEGMENT, query })).segmentCreate
  if (userErrors.length > 0 && !(await findLead(ask, lead)).hasSegment) throw refusedFields(userErrors)
}
