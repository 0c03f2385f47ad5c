import { HeicRefusal } from './heic-bitmap.ts'
import type { Call } from './heic-call.ts'
import { isLying, type View } from './heic-tiles.ts'

/** Property types as numbers of 4 characters. */
const [ROTATION, MIRRORING, CROP] = ['irot', 'imir', 'clap'].map((type) => Buffer.from(type, 'latin1').readUInt32BE())
const VERTICAL = 0
const MAX_TRANSFORMATIONS = 16

interface StoredImage {
  readonly context: number
  readonly handle: number
  readonly width: number
  readonly height: number
}

/**
 * What the file shows of an image: its crop, rotation and mirroring, in the order of the file.
 * @throws HeicRefusal when nothing of the image remains.
 */
export function readView(call: Call, { context, handle, ...stored }: StoredImage): View {
  const { heif } = call
  const item = heif._heif_image_handle_get_item_id(handle)
  const list = call.allocate(4 * MAX_TRANSFORMATIONS)
  const count = heif._heif_item_get_transformation_properties(context, item, list, MAX_TRANSFORMATIONS)
  const properties = Array.from({ length: count }, (_, i) => call.read(list + 4 * i, 4).readUInt32LE(0))
  let view: View = { left: 0, top: 0, ...stored, sides: ['left', 'top', 'right', 'bottom'] }
  for (const property of properties) {
    const type = heif._heif_item_get_property_type(context, item, property)
    if (type === ROTATION) {
      const degrees = heif._heif_item_get_property_transform_rotation_ccw(context, item, property)
      for (let turned = 0; turned < degrees; turned += 90) view = rotated(view)
    }
    if (type === MIRRORING) {
      view = mirrored(view, heif._heif_item_get_property_transform_mirror(context, item, property) === VERTICAL)
    }
    if (type === CROP) view = cropped(view, readBorders(call, { context, item, property, view }))
  }
  return view
}

/** By 90 degrees, counterclockwise. */
function rotated(view: View): View {
  const [left, top, right, bottom] = view.sides
  return { ...view, sides: [top, right, bottom, left] }
}

function mirrored(view: View, isVertical: boolean): View {
  const [left, top, right, bottom] = view.sides
  return { ...view, sides: isVertical ? [left, bottom, right, top] : [right, top, left, bottom] }
}

/** Pixels to remove at the left, the top, the right and the bottom of what is shown. */
function readBorders(
  call: Call,
  { context, item, property, view }: { context: number; item: number; property: number; view: View },
): readonly number[] {
  const [width, height] = isLying(view) ? [view.height, view.width] : [view.width, view.height]
  const pointers = [0, 1, 2, 3].map(() => call.allocate(4))
  const [left, top, right, bottom] = pointers
  call.heif._heif_item_get_property_transform_crop_borders(
    ...([context, item, property, width, height, left, top, right, bottom] as const),
  )
  return pointers.map((pointer) => Math.max(0, call.read(pointer, 4).readInt32LE(0)))
}

function cropped(view: View, borders: readonly number[]): View {
  const [left, top, right, bottom] = (['left', 'top', 'right', 'bottom'] as const).map(
    (side) => borders[view.sides.indexOf(side)],
  )
  const [width, height] = [view.width - left - right, view.height - top - bottom]
  if (width < 1 || height < 1) throw new HeicRefusal('damaged', 'The crop leaves nothing of the image')
  return { ...view, left: view.left + left, top: view.top + top, width, height }
}
