import { createPlane, type Plane } from './plane.ts'

/** Shifts the content down by `rows` whole rows. Fills the top with zeros and drops the bottom. */
export function shiftDown({ width, height, data }: Plane, rows: number): Plane {
  const out = createPlane({ width, height })
  out.data.set(data.subarray(0, data.length - rows * width), rows * width)
  return out
}
