export interface Sample {
  readonly kind: 'photo' | 'product'
  readonly file: string
  readonly url: URL
  /** Alternative text of the image. */
  readonly text: string
  /** Title of a product, as in a shop. */
  readonly title?: string
}

/** Sample images. The T-shirts and the pullover fit every photo; the others need more of the body than the portraits show. */
export const SAMPLES: readonly Sample[] = [
  {
    kind: 'photo',
    file: 'office-man.jpg',
    url: new URL('../../scripts/samples/persons/office-man.jpg', import.meta.url),
    text: 'Man in a navy polo shirt at a desk',
  },
  {
    kind: 'photo',
    file: 'terrace-woman.jpg',
    url: new URL('../../scripts/samples/persons/terrace-woman.jpg', import.meta.url),
    text: 'Woman in a red top in front of wooden steps',
  },
  {
    kind: 'photo',
    file: 'standing-man.jpg',
    url: new URL('../../scripts/samples/persons/standing-man.jpg', import.meta.url),
    text: 'Man in a white T-shirt and trousers, standing',
  },
  {
    kind: 'photo',
    file: 'long-hair-woman.jpg',
    url: new URL('../../scripts/samples/persons/long-hair-woman.jpg', import.meta.url),
    text: 'Woman with long hair in a striped blouse',
  },
  {
    kind: 'photo',
    file: 'garden-woman.jpg',
    url: new URL('../../scripts/samples/persons/garden-woman.jpg', import.meta.url),
    text: 'Woman in a grey T-shirt in a garden; a generated picture',
  },
  {
    kind: 'product',
    file: 'tshirt-navy.jpg',
    url: new URL('../../scripts/samples/garments/tshirt-navy.jpg', import.meta.url),
    text: 'Navy T-shirt with a print',
    title: 'T-shirt with a print',
  },
  {
    kind: 'product',
    file: 'tshirt-stripe.jpg',
    url: new URL('../../scripts/samples/garments/tshirt-stripe.jpg', import.meta.url),
    text: 'Striped T-shirt',
    title: 'Striped T-shirt',
  },
  {
    kind: 'product',
    file: 'tshirt-mustard.jpg',
    url: new URL('../../scripts/samples/garments/tshirt-mustard.jpg', import.meta.url),
    text: 'Mustard T-shirt',
    title: 'T-shirt',
  },
  {
    kind: 'product',
    file: 'tshirt-vneck-red.jpg',
    url: new URL('../../scripts/samples/garments/tshirt-vneck-red.jpg', import.meta.url),
    text: 'Red T-shirt with a V neck',
    title: 'V-neck T-shirt',
  },
  {
    kind: 'product',
    file: 'longsleeve-grey.jpg',
    url: new URL('../../scripts/samples/garments/longsleeve-grey.jpg', import.meta.url),
    text: 'Striped pullover',
    title: 'Pullover',
  },
  {
    kind: 'product',
    file: 'tank-green.jpg',
    url: new URL('../../scripts/samples/garments/tank-green.jpg', import.meta.url),
    text: 'Green sleeveless top',
    title: 'Tank top',
  },
  {
    kind: 'product',
    file: 'dress-blue.jpg',
    url: new URL('../../scripts/samples/garments/dress-blue.jpg', import.meta.url),
    text: 'Blue sleeveless dress',
    title: 'Dress',
  },
  {
    kind: 'product',
    file: 'trousers-black.jpg',
    url: new URL('../../scripts/samples/garments/trousers-black.jpg', import.meta.url),
    text: 'Black trousers',
    title: 'Trousers',
  },
]
