import sharp from 'sharp'
import { type Bitmap, decodeImage } from '../../api/shared/image/image.ts'
import { readSample } from './drape.ts'

/** A sample's product photo of a shirt with a photo of a person printed on its chest; `width` is a share of the photo's width. */
export async function printedPhoto({
  garment,
  person,
  width,
}: {
  garment: string
  person: string
  width: number
}): Promise<Bitmap> {
  const shirt = sharp(await readSample(`garments/${garment}.jpg`))
  const size = await shirt.metadata()
  const print = await sharp(await readSample(`persons/${person}.jpg`))
    .resize({ width: Math.round(size.width * width), height: Math.round(size.height * 0.45), fit: 'inside' })
    .toBuffer({ resolveWithObject: true })
  const [left, top] = [Math.round((size.width - print.info.width) / 2), Math.round(size.height * 0.32)]
  return decodeImage(
    await shirt
      .composite([{ input: print.data, left, top }])
      .png()
      .toBuffer(),
  )
}
