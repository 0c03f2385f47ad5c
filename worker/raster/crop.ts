import type { Colours, Mask, Plane } from './plane.ts'

/** A rectangle of whole px inside a bitmap. */
export interface Window {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export function cropPlane({ width, data }: Plane, window: Window): Plane {
  const out = new Float32Array(window.width * window.height)
  copyRows(data, out, { window, stride: width, channels: 1 })
  return { width: window.width, height: window.height, data: out }
}

export function cropMask({ width, data }: Mask, window: Window): Mask {
  const out = new Uint8Array(window.width * window.height)
  copyRows(data, out, { window, stride: width, channels: 1 })
  return { width: window.width, height: window.height, data: out }
}

export function cropColours({ width, channels, data }: Colours, window: Window): Colours {
  const out = new Float32Array(window.width * window.height * channels)
  copyRows(data, out, { window, stride: width, channels })
  return { width: window.width, height: window.height, channels, data: out }
}

function copyRows<T extends Float32Array | Uint8Array>(
  from: T,
  to: T,
  { window, stride, channels }: { window: Window; stride: number; channels: number },
): void {
  const length = window.width * channels
  for (let row = 0; row < window.height; row++) {
    const start = ((window.y + row) * stride + window.x) * channels
    to.set(from.subarray(start, start + length), row * length)
  }
}
