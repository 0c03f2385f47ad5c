import { access, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeImage } from '../../api/shared/image.ts'
import { type Bitmap, type Mask, maskWhere, type Point } from '../../worker/raster/plane.ts'

/** One row of a folder's `pairs.json`: a rendered figure, a rendered garment, and what the garment takes the place of. */
export interface PairName {
  readonly person: string
  readonly garment: string
  readonly part: 'top' | 'lower' | 'both'
  /** The same figure rendered in a garment of this cut. */
  readonly truth?: string
}

/** What is known exactly about a rendered figure. */
export interface KnownFigure {
  readonly picture: Bitmap
  readonly person: Mask
  readonly parts: Readonly<Record<PairName['part'], Mask>>
  readonly height: number
  readonly joints: Readonly<Record<string, Point>>
}

export interface Pair {
  readonly name: PairName
  readonly figure: KnownFigure
  readonly garment: { readonly bytes: Uint8Array; readonly picture: Bitmap; readonly mask: Mask }
  readonly truth: KnownFigure | null
}

export async function readPairNames(folder: string): Promise<PairName[]> {
  return JSON.parse(await readFile(join(folder, 'pairs.json'), 'utf8'))
}

export async function readPair(folder: string, name: PairName): Promise<Pair> {
  const garment = join(folder, 'garments', name.garment)
  const bytes = await readFile(await existing(garment))
  const mask = await decodeImage(await readFile(`${garment}-mask.png`))
  return {
    name,
    figure: await readFigure(join(folder, 'persons', name.person)),
    garment: {
      bytes,
      picture: await decodeImage(bytes),
      mask: maskWhere(mask, (i) => mask.data[i * mask.channels] > 127),
    },
    truth: name.truth ? await readFigure(join(folder, 'persons', name.truth)) : null,
  }
}

async function readFigure(path: string): Promise<KnownFigure> {
  const picture = await decodeImage(await readFile(await existing(path)))
  const parts = await decodeImage(await readFile(`${path}-parts.png`))
  const { joints, height_px: height } = JSON.parse(await readFile(`${path}.json`, 'utf8'))
  const channel = (c: number) => maskWhere(parts, (i) => parts.data[i * parts.channels + c] > 127)
  const [top, lower, rest] = [channel(0), channel(1), channel(2)]
  const person = maskWhere(parts, (i) => top.data[i] + lower.data[i] + rest.data[i] > 0)
  const both = maskWhere(parts, (i) => top.data[i] + lower.data[i] > 0)
  return { picture, person, parts: { top, lower, both }, height, joints }
}

async function existing(path: string): Promise<string> {
  const jpeg = `${path}.jpg`
  return access(jpeg).then(
    () => jpeg,
    () => `${path}.png`,
  )
}
