import type { Products } from '../products/products.store.ts'
import { DrapeError } from '../shared/contract/errors.ts'
import { categoryFromWords } from '../shared/generations/garment-category.ts'
import { LAYERS, type Layer } from '../shared/generations/generation.ts'
import { unknownProduct } from './acceptance.store.ts'

interface OutfitProduct {
  readonly externalId?: string
  readonly title?: string
  readonly description?: string
  readonly images?: readonly { readonly classifications?: Readonly<Record<string, unknown>> | null }[]
  readonly layer?: Layer
}

interface Catalog {
  readonly accountId: string
  readonly findProduct: Products['find']
  /** Field of the call for a product or a member of it, for errors; the product's own if calls cannot have the member. Default: of `products`. */
  readonly fieldOf?: FieldOf
}

type FieldOf = (index: number, member?: string) => string

const fieldOfProducts: FieldOf = (index, member) => `products[${index}]${member === undefined ? '' : `.${member}`}`

/**
 * The layer of each product: as sent, else its category by the words and classifications of the call and, for what the call leaves out, of
 * the catalog, else as a try-on detected it. Throws `VALIDATION_FAILED` for a product without a category and for two products that cannot
 * be worn together, `PRODUCT_NOT_FOUND` and `FORBIDDEN` as the acceptance.
 */
export async function planLayers(products: readonly OutfitProduct[], catalog: Catalog): Promise<readonly Layer[]> {
  const { fieldOf = fieldOfProducts } = catalog
  assertDifferent(products, fieldOf)
  const layers = await Promise.all(
    products.map(
      async (product, i) =>
        product.layer ?? layerOf(await describe(product, fieldOf(i), catalog), fieldOf(i), fieldOf(i, 'layer')),
    ),
  )
  assertTogether(layers, fieldOf)
  return layers
}

interface Described extends Pick<OutfitProduct, 'title' | 'description'> {
  readonly classifications: readonly (Readonly<Record<string, unknown>> | null)[]
  readonly detected: readonly string[]
}

async function describe(
  product: OutfitProduct,
  field: string,
  { accountId, findProduct }: Catalog,
): Promise<Described> {
  const { externalId, title, description, images } = product
  const known = externalId === undefined ? null : await findProduct({ accountId, externalId })
  const own = known?.accountId === accountId ? known : null
  if (own === null && externalId !== undefined && images === undefined) {
    const sent = { ...product, externalId, images: undefined, id: '', anonymous: false }
    throw unknownProduct({ product: known === null ? 'missing' : 'foreign' }, sent, field)
  }
  return {
    title: title ?? own?.title ?? undefined,
    description: description ?? own?.description ?? undefined,
    classifications: (images ?? own?.images ?? []).map(({ classifications }) => classifications ?? null),
    detected: images ? [] : Object.values(own?.detected ?? {}).map(({ category }) => category),
  }
}

function layerOf(
  { title, description, classifications, detected }: Described,
  field: string,
  layerField: string,
): Layer {
  const categories = [
    ...classifications.map((each) => categoryFromWords({ classifications: each })),
    categoryFromWords({ title, description }),
    ...detected,
  ]
  const category = categories.find((each) => each !== null)
  const layer = LAYERS.find((each) => each === category)
  if (layer !== undefined) return layer
  const cure = layerField === field ? '' : ', or send its layer'
  throw invalid(
    `The category of ${field} is ${category ?? 'unknown'}. Give it a title or classifications that name its category${cure}.`,
    [[layerField, `must be one of ${LAYERS.join(', ')}`]],
  )
}

function assertDifferent(products: readonly OutfitProduct[], fieldOf: FieldOf): void {
  for (const [j, { externalId }] of products.entries()) {
    const i = products.findIndex((other) => other.externalId === externalId)
    if (externalId === undefined || i === j) continue
    throw invalid(`${fieldOf(i)} and ${fieldOf(j)} are the same product.`, [
      [fieldOf(j, 'externalId'), `names the same product as ${fieldOf(i)}`],
    ])
  }
}

/** Layers that cannot be worn together; outerwear goes over everything, also over other outerwear. */
const CONFLICTS: Readonly<Record<Layer, readonly Layer[]>> = {
  bottoms: ['bottoms', 'one-pieces'],
  'one-pieces': ['bottoms', 'one-pieces', 'tops'],
  tops: ['tops', 'one-pieces'],
  outerwear: [],
}

function assertTogether(layers: readonly Layer[], fieldOf: FieldOf): void {
  for (const [j, layer] of layers.entries()) {
    const i = layers.slice(0, j).findIndex((other) => CONFLICTS[layer].includes(other))
    if (i < 0) continue
    const cure = fieldOf(j, 'layer') === fieldOf(j) ? '' : ', or send another layer'
    throw invalid(
      `${fieldOf(i)} (${layers[i]}) and ${fieldOf(j)} (${layer}) cannot be worn together. Leave one out${cure}.`,
      [
        [fieldOf(i), `cannot be worn with ${fieldOf(j)}`],
        [fieldOf(j), `cannot be worn with ${fieldOf(i)}`],
      ],
    )
  }
}

function invalid(text: string, details: readonly (readonly [path: string, message: string])[]): DrapeError {
  return new DrapeError('VALIDATION_FAILED', text, { details: details.map(([path, message]) => ({ path, message })) })
}
