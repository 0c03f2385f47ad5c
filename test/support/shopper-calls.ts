import type { Drape } from './drape.ts'

/** Uploads and try-ons of shoppers of the test's account, with this photo as person and product. */
export function createShopperCalls(drape: Drape, person: Buffer) {
  return {
    /** Uploads the photo of a shopper; returns its ID. */
    upload: async (externalUserId: string) =>
      (await drape.upload(person, { crop: 'false', externalUserId })).imageId as string,
    /** Starts a try-on of a shopper, or of nobody; returns its ID. */
    tryOn: (imageId: string, externalUserId?: string) =>
      drape.tryOn(
        {
          products: [{ externalId: 'shirt', images: [{ source: { fileKey: 'me' } }] }],
          person: { image: { source: { id: imageId } } },
          externalUserId,
          output: { engine: 'mock', deadlineSeconds: 3600 },
        },
        { me: person },
      ),
  }
}
