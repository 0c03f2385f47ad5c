import { type Colours, createPlane, type Plane } from '../../../vision/raster/plane.ts'

/** One channel of interleaved colours as a plane, times `scale`. */
export function planeOf({ width, height, channels, data }: Colours, channel: number, scale = 1): Plane {
  const plane = createPlane({ width, height })
  for (let i = 0, k = channel; i < plane.data.length; i++, k += channels) plane.data[i] = data[k] * scale
  return plane
}
