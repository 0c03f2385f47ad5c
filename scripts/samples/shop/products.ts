import { openAsBlob } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface ShopProduct {
  /** ID in the shop and in the catalog of the service. */
  readonly id: string
  readonly title: string
  readonly price: string
  readonly text: string
  /** File in `scripts/samples/garments`. */
  readonly image: string
  /** ID of a product that the page offers to try on with it. */
  readonly goesWith?: string
}

export const PRODUCTS: readonly ShopProduct[] = [
  {
    id: '101',
    title: 'Mustard T-shirt',
    price: '€ 29',
    text: 'Heavy cotton that keeps its shape. Cut straight, a little longer at the back.',
    image: 'tshirt-mustard.jpg',
    goesWith: '109',
  },
  {
    id: '102',
    title: 'Sunset T-shirt, navy',
    price: '€ 34',
    text: 'A low sun over the water, printed by hand with ink that is water too.',
    image: 'tshirt-navy.jpg',
    goesWith: '109',
  },
  {
    id: '103',
    title: 'Harbour stripe',
    price: '€ 36',
    text: 'Breton stripes, knitted in and not printed on. For every day that smells of salt.',
    image: 'tshirt-stripe.jpg',
  },
  {
    id: '104',
    title: 'V-neck, red',
    price: '€ 29',
    text: 'Soft jersey with a deep neckline. Goes under everything, and well alone.',
    image: 'tshirt-vneck-red.jpg',
  },
  {
    id: '105',
    title: 'Long-sleeved stripe',
    price: '€ 45',
    text: 'For the first cool evening. Ribbed cuffs, flat seams.',
    image: 'longsleeve-grey.jpg',
  },
  {
    id: '106',
    title: 'Tank top, green',
    price: '€ 24',
    text: 'Broad straps, light cotton, room to move.',
    image: 'tank-green.jpg',
    goesWith: '109',
  },
  {
    id: '107',
    title: 'Summer dress, blue',
    price: '€ 59',
    text: 'Falls loosely from the shoulders.',
    image: 'dress-blue.jpg',
  },
  {
    id: '108',
    title: 'Boxy T-shirt, black',
    price: '€ 34',
    text: 'Wide and short. The same low sun, in red.',
    image: 'tshirt-boxy-black.jpg',
    goesWith: '109',
  },
  {
    id: '109',
    title: 'Black trousers',
    price: '€ 69',
    text: 'Straight legs, a waist that sits where it should.',
    image: 'trousers-black.jpg',
  },
]

/** Sizes of every product; one of them is sold out. */
export const SIZES = [
  { title: 'S', available: true },
  { title: 'M', available: true },
  { title: 'L', available: true },
  { title: 'XL', available: false },
]

const IMAGES = new URL('../garments/', import.meta.url)

/** The image file of a product. */
export function pathOfImage({ image }: ShopProduct): string {
  return fileURLToPath(new URL(image, IMAGES))
}

/** Registers the products in the catalog of the account, as a shop does on start-up. Throws an Error with the service's message. */
export async function registerProducts({ apiUrl, apiKey }: { apiUrl: string; apiKey: string }): Promise<void> {
  for (const product of PRODUCTS) {
    const form = new FormData()
    const images = [{ source: { fileKey: 'image' }, classifications: { type: 'flat_lay' } }]
    form.set('data', JSON.stringify({ externalId: product.id, title: product.title, images }))
    form.set('image', await openAsBlob(pathOfImage(product), { type: 'image/jpeg' }), product.image)
    const answer = await fetch(`${apiUrl}/tryon/v1/products`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey },
      body: form,
    })
    if (!answer.ok) throw new Error(`The service rejected ${product.title}: ${await answer.text()}`)
  }
}
