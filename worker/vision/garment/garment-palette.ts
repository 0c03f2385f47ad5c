import { type Cluster, createRandom, kMeans } from '../raster/clusters.ts'
import { countSet } from '../raster/mask.ts'
import type { Colours, Mask } from '../raster/plane.ts'

/** The garment's main colours: those of at least 3 % of `core`; empty if the core is too small. */
export function paletteOf(lab: Colours, core: Mask): Cluster[] {
  const inside = countSet(core)
  if (inside <= 500) return []
  const random = createRandom(1)
  const share = Math.min(1, 4000 / inside)
  const samples: number[] = []
  for (let i = 0; i < core.data.length; i++) {
    if (core.data[i] && random() < share) samples.push(lab.data[3 * i], lab.data[3 * i + 1], lab.data[3 * i + 2])
  }
  return kMeans(Float32Array.from(samples), 6).filter((cluster) => cluster.share > 0.03)
}

/** ΔE of a pixel to the nearest palette colour. Lightness counts half, because folds change it most. */
export function distanceToPalette(lab: Colours, pixel: number, palette: readonly Cluster[]): number {
  let best = Number.POSITIVE_INFINITY
  for (const { mean } of palette) {
    const dl = 0.5 * (lab.data[3 * pixel] - mean[0])
    const da = lab.data[3 * pixel + 1] - mean[1]
    const db = lab.data[3 * pixel + 2] - mean[2]
    best = Math.min(best, dl * dl + da * da + db * db)
  }
  return Math.sqrt(best)
}
