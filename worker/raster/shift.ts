import { createPlane, type Plane } from './plane.ts'

/** The plane with its content `rows` whole rows lower; zeros come in at the top, and what leaves at the bottom is gone. */
export function shiftDown({ width, height, data }: Plane, rows: number): Plane {
  const out = createPlane({ width, height })
  out.data.set(data.subarray(0, data.length - rows * width), rows * width)
  return out
}
