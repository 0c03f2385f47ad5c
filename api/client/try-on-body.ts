import { type FileInput, isFileInput, readFileInput } from './file-input.ts'
import { toJson } from './json.ts'
import type { Outfit, ProductInput as ProductBody, TryOn } from './schemas.ts'

/** An image: its bytes, or a URL from which the service fetches the image. */
export type ImageInput = FileInput | { readonly url: string }

/** Photo of a person: the `imageId` of an upload as `id` (recommended), or an image. */
export type PersonInput = ImageInput | { readonly id: string }

/** Image of a product, optionally with its classifications. */
export type ProductImageInput =
  | ImageInput
  | { readonly source: ImageInput; readonly classifications?: Readonly<Record<string, unknown>> }

export type ProductFields = Omit<ProductBody, 'externalId' | 'images'> & {
  readonly images?: readonly ProductImageInput[]
}

/** A product of the catalog to create or update. */
export type ProductInput = ProductFields & { readonly externalId: string }

/** Options of the result. Takes the image of a mask as the photo of a person. */
export type OutputInput = Omit<NonNullable<TryOn['output']>, 'mask'> & {
  readonly mask?: { readonly image: PersonInput | { readonly source: PersonInput }; readonly keep?: boolean }
}

interface PersonFields {
  readonly person: PersonInput
  readonly externalUserId?: string
  readonly output?: OutputInput
  /** What the person of the photo agreed to. */
  readonly consent?: TryOn['consent']
}

export interface TryOnInput extends PersonFields {
  /** ID of a known product, or the product itself; without an `externalId` for a single use. */
  readonly product: string | (ProductFields & { readonly externalId?: string })
}

export interface OutfitInput extends PersonFields {
  /** 2 to 4 products, each as `product` of a try-on. `layer` replaces the category of a product. */
  readonly products: readonly (
    | string
    | (ProductFields & { readonly externalId?: string; readonly layer?: Outfit['products'][number]['layer'] })
  )[]
  /** Whether the image may leave out products that the engine refuses. */
  readonly partial?: Outfit['partial']
}

/** The body of `POST /try-on`: JSON, or multipart if it contains bytes. */
export function describeTryOn({ product, ...input }: TryOnInput): Promise<unknown> {
  return describeOutfit({ ...input, products: [product] })
}

/** The body of `POST /outfits`, likewise. */
export async function describeOutfit({
  person,
  products,
  externalUserId,
  output,
  consent,
  partial,
}: OutfitInput): Promise<unknown> {
  const files = createFiles()
  const described: unknown[] = []
  // Sequentially, because the names of files follow the order.
  for (const product of products)
    described.push(typeof product === 'string' ? { externalId: product } : await describeFields(product, files))
  const data = {
    products: described,
    // Untyped programs may omit it; the service returns the error.
    person: person && { image: { source: await describeSource(person, files) } },
    externalUserId,
    output: output && (await describeOutput(output, files)),
    consent,
    partial,
  }
  return files.wrap(data)
}

/** The body of `POST /products`: JSON, or multipart if it contains bytes. */
export async function describeProduct(product: ProductInput): Promise<unknown> {
  const files = createFiles()
  return files.wrap(await describeFields(product, files))
}

type Files = ReturnType<typeof createFiles>

function createFiles() {
  const blobs: Blob[] = []
  const nameOf = (index: number) => `file-${index}`
  return {
    /** Returns the field name of the bytes. */
    add: (blob: Blob) => nameOf(blobs.push(blob) - 1),
    wrap: (data: object) => {
      if (blobs.length === 0) return data
      const form = new FormData()
      form.set('data', toJson(data))
      blobs.forEach((blob, index) => {
        form.set(nameOf(index), blob, nameOf(index))
      })
      return form
    },
  }
}

async function describeFields(product: ProductFields & { externalId?: string }, files: Files) {
  const { images, ...fields } = product
  if (images === undefined) return fields
  // Sequentially, because the names follow the order.
  const described: unknown[] = []
  for (const image of images) described.push(await describeImage(image, files))
  return { ...fields, images: described }
}

async function describeOutput({ mask, ...output }: OutputInput, files: Files) {
  return mask ? { ...output, mask: { ...mask, image: mask.image && (await describeImage(mask.image, files)) } } : output
}

async function describeImage(image: PersonInput | { readonly source: PersonInput }, files: Files) {
  // Untyped programs may pass a text; the service returns the error.
  const isDescribed = typeof image === 'object' && image !== null && !isFileInput(image) && 'source' in image
  if (!isDescribed) return { source: await describeSource(image, files) }
  return { ...image, source: await describeSource(image.source, files) }
}

async function describeSource(source: PersonInput, files: Files) {
  return isFileInput(source) ? { fileKey: files.add(await readFileInput(source)) } : source
}
