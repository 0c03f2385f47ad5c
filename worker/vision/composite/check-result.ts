import { DrapeError } from '../../../api/shared/contract/errors.ts'
import type { Rectangle } from '../../../api/shared/image/image.ts'
import type { Bitmap, Plane } from '../raster/plane.ts'

/**
 * Rejects a result that must not be shown. `photo` is the person's photo, `person` the bounds of the person in px of the photo
 * (null if unknown). Throws `RESULT_REJECTED` if the aspects differ, a value is not finite or out of range, almost nothing
 * changed, the changed region is one flat colour or equals the photo, or most of the change is outside the person.
 */
export function checkResult(
  { image, change }: { image: Bitmap; change: Plane },
  photo: Bitmap,
  person: Rectangle | null,
): void {
  checkSizes(image, change, photo)
  const changed = changedAmount(change)
  if (changed < MIN_CHANGED_SHARE * change.data.length) throw rejected('The result changes nothing')
  checkContent(image, change, photo)
  if (person) checkPlace(change, changed, scaleBox(person, change.width / photo.width))
}

const MIN_CHANGED_SHARE = 0.001
// Clothes extend beyond the body: by a quarter of its size, or by a tenth of the image for a small person.
const NEIGHBOURHOOD = 0.25
const MAX_OUTSIDE = 0.1

function checkSizes(image: Bitmap, change: Plane, photo: Bitmap): void {
  const { width, height } = image
  if (image.data.length !== width * height * image.channels || change.data.length !== width * height)
    throw rejected('The result has the wrong size')
  if (change.width !== width || change.height !== height) throw rejected('The result has the wrong size')
  // Both sides were rounded to whole pixels.
  if (Math.abs(width / photo.width - height / photo.height) > 1 / photo.width + 1 / photo.height)
    throw rejected('The aspect ratio of the result differs from that of the photo')
}

function changedAmount(change: Plane): number {
  let sum = 0
  for (let i = 0; i < change.data.length; i++) {
    const share = change.data[i]
    if (!(share >= 0 && share <= 1)) throw rejected('The result has values outside 0 to 1')
    sum += share
  }
  return sum
}

function checkContent(image: Bitmap, change: Plane, photo: Bitmap): void {
  let count = 0
  let sum = 0
  let squares = 0
  let difference = 0
  for (let y = 0; y < image.height; y++) {
    const photoRow = Math.min(photo.height - 1, Math.floor(((y + 0.5) * photo.height) / image.height)) * photo.width
    for (let x = 0; x < image.width; x++) {
      const i = y * image.width + x
      if (change.data[i] < 0.5) continue
      const photoX = Math.min(photo.width - 1, Math.floor(((x + 0.5) * photo.width) / image.width))
      const at = i * image.channels
      const photoAt = (photoRow + photoX) * photo.channels
      for (let c = 0; c < 3; c++) {
        sum += image.data[at + c]
        squares += image.data[at + c] ** 2
        difference += Math.abs(image.data[at + c] - photo.data[photoAt + c])
      }
      count += 3
    }
  }
  if (count === 0) throw rejected('The result changes nothing')
  if (squares / count - (sum / count) ** 2 < 0.25) throw rejected('The result is flat')
  if (difference / count < 0.5) throw rejected('The result equals the photo')
}

function checkPlace(change: Plane, changed: number, person: Rectangle): void {
  const marginX = Math.max(NEIGHBOURHOOD * person.width, 0.1 * change.width)
  const marginY = Math.max(NEIGHBOURHOOD * person.height, 0.1 * change.height)
  const { width, height, data } = change
  const left = Math.min(width, Math.max(0, Math.ceil(person.x - marginX)))
  const right = Math.max(left, Math.min(width, Math.ceil(person.x + person.width + marginX)))
  let outside = 0
  const add = (from: number, to: number) => {
    for (let i = from; i < to; i++) outside += data[i]
  }
  for (let y = 0, row = 0; y < height; y++, row += width) {
    const inRows = y >= person.y - marginY && y < person.y + person.height + marginY
    add(row, row + (inRows ? left : width))
    if (inRows) add(row + right, row + width)
  }
  if (outside > MAX_OUTSIDE * changed) throw rejected('The result changes the photo outside the person')
}

function scaleBox({ x, y, width, height }: Rectangle, scale: number): Rectangle {
  return { x: x * scale, y: y * scale, width: width * scale, height: height * scale }
}

function rejected(message: string): DrapeError {
  return new DrapeError('RESULT_REJECTED', message)
}
