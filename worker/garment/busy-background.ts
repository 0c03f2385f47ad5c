import { type ColourModel, createCosts, learnColours, samplesOf } from '../raster/colour-model.ts'
import { fillHoles, largestComponent } from '../raster/components.ts'
import { createGuidedFilter, gaussianBlur } from '../raster/filter.ts'
import { dilate, erode, open } from '../raster/morphology.ts'
import {
  type Colours,
  channelOf,
  countSet,
  createPlane,
  type Mask,
  maskWhere,
  type Plane,
  threshold,
} from '../raster/plane.ts'
import { reduceColoursByFactor } from '../raster/reduce.ts'
import { resizeBilinear } from '../raster/sample.ts'

const FACTOR = 2
const ROUNDS = 5
const FRAME = 0.05
const GROUND_COLOURS = 10
const GARMENT_COLOURS = 6
// Min cost of a colour that differs from all background colours: about three deviations.
const STRANGE = 22
// Min share of pixels on each side of the outline that its model must explain.
const MIN_EXPLAINED = { garment: 0.9, background: 0.93 }

/**
 * Finds a garment on a background of several colours, such as boards, tiles or a carpet. Colours of the image border are background,
 * differing colours in the middle are garment; both models are learnt again from the resulting segmentation (after Rother, Kolmogorov and
 * Blake 2004, "GrabCut", with a guided filter instead of the cut). `lab` is CIE Lab. Returns null if the two cannot be separated.
 */
export function findOnBusyBackground(lab: Colours): Mask | null {
  const small = reduceColoursByFactor(lab, FACTOR)
  const frame = frameOf(small)
  const smooth = createGuidedFilter(brightness(small), { radius: 3, epsilon: 4e-4 })
  let garment = firstGuess(small, frame)
  let share: Plane | null = null
  for (let round = 0; round < ROUNDS && garment; round++) {
    const models = learn(small, garment)
    if (models.some((model) => model.length === 0)) return null
    share = smooth(likelihood(small, models, frame))
    garment = mainPiece(threshold(share, 0.5))
  }
  if (!garment || !share || !isExplained(small, garment)) return null
  const soft = createPlane(small)
  for (let i = 0; i < soft.data.length; i++)
    soft.data[i] = garment.data[i] ? Math.max(0.5, share.data[i]) : Math.min(0.49, share.data[i])
  return mainPiece(threshold(gaussianBlur(resizeBilinear(soft, lab), 1.2), 0.5))
}

function frameOf({ width, height }: Colours): Mask {
  const band = Math.max(3, FRAME * Math.min(width, height))
  return maskWhere({ width, height }, (i) => {
    const x = i % width
    const y = Math.floor(i / width)
    return Math.min(x, y, width - 1 - x, height - 1 - y) < band
  })
}

function firstGuess(lab: Colours, frame: Mask): Mask | null {
  const costs = createCosts([learnColours(samplesOf(lab, frame), GROUND_COLOURS)])
  const cost = new Float64Array(1)
  const strange = maskWhere(lab, (i) => {
    costs({ l: lab.data[i * 3], a: lab.data[i * 3 + 1], b: lab.data[i * 3 + 2] }, cost)
    return !frame.data[i] && cost[0] > STRANGE
  })
  return mainPiece(open(strange, 2))
}

function learn(lab: Colours, garment: Mask): [garment: ColourModel, background: ColourModel] {
  const around = dilate(garment, 3)
  const background = maskWhere(garment, (i) => around.data[i] === 0)
  return [
    learnColours(samplesOf(lab, erode(garment, 2)), GARMENT_COLOURS),
    learnColours(samplesOf(lab, background), GROUND_COLOURS),
  ]
}

// 0 is certain background, 1 certain garment.
function likelihood(lab: Colours, models: readonly ColourModel[], frame: Mask): Plane {
  const costs = createCosts(models)
  const cost = new Float64Array(2)
  const share = createPlane(lab)
  for (let i = 0; i < share.data.length; i++) {
    if (frame.data[i]) continue
    costs({ l: lab.data[i * 3], a: lab.data[i * 3 + 1], b: lab.data[i * 3 + 2] }, cost)
    share.data[i] = 1 / (1 + Math.exp(Math.min(40, Math.max(-40, (cost[0] - cost[1]) / 5))))
  }
  return share
}

const MIN_AREA = 0.04

function mainPiece(mask: Mask): Mask | null {
  const piece = fillHoles(largestComponent(open(mask, 1)))
  return countSet(piece) > MIN_AREA * mask.data.length ? piece : null
}

// A segmentation that explains neither side well has cut through a pattern.
function isExplained(lab: Colours, garment: Mask): boolean {
  const models = learn(lab, garment)
  if (models.some((model) => model.length === 0)) return false
  const costs = createCosts(models)
  const cost = new Float64Array(2)
  const right = { garment: 0, background: 0 }
  for (let i = 0; i < garment.data.length; i++) {
    costs({ l: lab.data[i * 3], a: lab.data[i * 3 + 1], b: lab.data[i * 3 + 2] }, cost)
    if (garment.data[i] && cost[0] < cost[1]) right.garment++
    else if (!garment.data[i] && cost[1] < cost[0]) right.background++
  }
  const inside = countSet(garment)
  return (
    right.garment > MIN_EXPLAINED.garment * inside &&
    right.background > MIN_EXPLAINED.background * (garment.data.length - inside)
  )
}

function brightness(lab: Colours): Plane {
  const plane = channelOf(lab, 0)
  for (let i = 0; i < plane.data.length; i++) plane.data[i] /= 100
  return plane
}
