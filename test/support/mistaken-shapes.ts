import sharp from 'sharp'

/** Centre and half axes in px, angle, and colour of ellipses that the classifier of `worker/outputs/safety` mistakes for nudity, found by chance. */
const ELLIPSES = [
  [111, 74, 69, 34, 1.34, 205, 155, 122],
  [56, 63, 41, 53, 0.25, 212, 165, 108],
  [44, 126, 38, 7, 0.15, 238, 153, 140],
  [33, 210, 69, 21, 2.41, 234, 173, 126],
  [134, 55, 34, 53, 2.32, 235, 148, 118],
  [141, 130, 16, 24, 2.17, 209, 152, 131],
  [126, 181, 68, 48, 0.8, 231, 155, 115],
]
const WIDTH = 200
const HEIGHT = 250

/** A PNG of ellipses on grey, 400 × 500 px, that the classifier takes for nudity with a probability of 0.98. */
export async function mistakenShapes(): Promise<Buffer> {
  const data = new Uint8Array(WIDTH * HEIGHT * 3).fill(200)
  for (const [cx, cy, rx, ry, angle, ...colour] of ELLIPSES) {
    for (let i = 0; i < WIDTH * HEIGHT; i++) {
      const [dx, dy] = [(i % WIDTH) - cx, Math.floor(i / WIDTH) - cy]
      const u = (dx * Math.cos(angle) + dy * Math.sin(angle)) / rx
      const v = (dy * Math.cos(angle) - dx * Math.sin(angle)) / ry
      const distance = u * u + v * v
      if (distance < 1) for (let c = 0; c < 3; c++) data[3 * i + c] = colour[c] * (1 - 0.35 * distance)
    }
  }
  return sharp(data, { raw: { width: WIDTH, height: HEIGHT, channels: 3 } })
    .resize(2 * WIDTH, 2 * HEIGHT, { kernel: 'nearest' })
    .png()
    .toBuffer()
}
