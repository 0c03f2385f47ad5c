import { type Bitmap, resizeBitmap } from '../../api/shared/image/image.ts'

// Layout of the contact sheet, in px.
const ROW = 360
const GAP = 4

/** Bitmaps side by side at one height, in px, on white. */
export async function arrangeRow(bitmaps: readonly Bitmap[], height = ROW): Promise<Bitmap> {
  const cells = await Promise.all(
    bitmaps.map((bitmap) =>
      resizeBitmap(bitmap, { width: Math.round((bitmap.width * height) / bitmap.height), height }),
    ),
  )
  const row = white(
    cells.reduce((sum, { width }) => sum + width + GAP, -GAP),
    height,
  )
  let left = 0
  for (const cell of cells) {
    paste(row, cell, { x: left, y: 0 })
    left += cell.width + GAP
  }
  return row
}

/** Stacks rows vertically. */
export function stackRows(rows: readonly Bitmap[]): Bitmap {
  const width = Math.max(1, ...rows.map((row) => row.width))
  const sheet = white(
    width,
    Math.max(
      1,
      rows.reduce((sum, { height }) => sum + height + GAP, -GAP),
    ),
  )
  let top = 0
  for (const row of rows) {
    paste(sheet, row, { x: 0, y: top })
    top += row.height + GAP
  }
  return sheet
}

function white(width: number, height: number): Bitmap {
  return { width, height, channels: 3, data: new Uint8Array(width * height * 3).fill(255) }
}

function paste(onto: Bitmap, { width, height, channels, data }: Bitmap, at: { x: number; y: number }): void {
  for (let y = 0; y < height; y++) {
    let to = ((at.y + y) * onto.width + at.x) * 3
    for (let from = y * width * channels; from < (y + 1) * width * channels; from += channels, to += 3) {
      onto.data[to] = data[from]
      onto.data[to + 1] = data[from + 1]
      onto.data[to + 2] = data[from + 2]
    }
  }
}
