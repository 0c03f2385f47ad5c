import type { Session, TensorShape } from '../../../inference/session.ts'
import type { Bytes } from '../../../vision/raster/bytes.ts'
import type { Size } from '../../../vision/raster/plane.ts'
import { WHOLE_BODY, type WholeBody } from '../keypoints.ts'
import { assertNumbers } from '../tensors.ts'
import { countCells, decodePeople, letterbox } from './detect-people.ts'
import { decodePoints, regionAround, viewRegion } from './find-keypoints.ts'

/** Detects people with hands and face, with the models that FASHN VTON was trained with. */
export interface WholeBodyFinder {
  /** All people in the bitmap, in px of the bitmap. Without a detection the whole bitmap counts as one person. */
  find(bitmap: Bytes): Promise<WholeBody[]>
}

/**
 * Detects people with a YOLOX detector and the keypoint network of DWPose.
 * @throws Error that names the graph with a wrong interface
 */
export function createWholeBodyFinder(graphs: { detector: Session; keypoints: Session }): WholeBodyFinder {
  const detector = describeDetector(graphs.detector)
  const keypoints = describeKeypoints(graphs.keypoints)
  return {
    find: async (bitmap) => {
      const { tensor, scale } = letterbox(bitmap, detector.canvas)
      const raw = (await graphs.detector.run({ [detector.input]: tensor }))[detector.output]
      assertNumbers(raw)
      const boxes = decodePeople(raw, detector.canvas, scale)
      const people: WholeBody[] = []
      for (const box of boxes.length > 0 ? boxes : [{ x: 0, y: 0, width: bitmap.width, height: bitmap.height }]) {
        const region = regionAround(box, keypoints.view)
        const found = await graphs.keypoints.run({ [keypoints.input]: viewRegion(bitmap, region, keypoints.view) })
        const [across, down] = keypoints.outputs.map((output) => found[output])
        assertNumbers(across)
        assertNumbers(down)
        people.push(decodePoints(across, down, { region, view: keypoints.view }))
      }
      return people
    },
  }
}

function describeDetector({ inputs, outputs }: Session): { input: string; output: string; canvas: Size } {
  const canvas = sizeOf(inputs)
  const [output] = outputs
  const [, cells, columns] = output?.shape ?? []
  if (outputs.length !== 1 || cells !== countCells(canvas) || typeof columns !== 'number' || columns < 6)
    throw new Error(`The graph pose-detector returns ${describe(outputs)}, which does not match YOLOX`)
  return { input: inputs[0].name, output: output.name, canvas }
}

function describeKeypoints({ inputs, outputs }: Session): { input: string; outputs: readonly string[]; view: Size } {
  const view = sizeOf(inputs)
  const wanted = [2 * view.width, 2 * view.height]
  const fits =
    outputs.length === 2 && outputs.every(({ shape }, i) => shape[1] === WHOLE_BODY && shape[2] === wanted[i])
  if (!fits) throw new Error(`The graph pose-keypoints returns ${describe(outputs)}, which does not match DWPose`)
  return { input: inputs[0].name, outputs: outputs.map(({ name }) => name), view }
}

function sizeOf(inputs: readonly TensorShape[]): Size {
  const [, channels, height, width] = inputs[0]?.shape ?? []
  if (inputs.length !== 1 || channels !== 3 || typeof height !== 'number' || typeof width !== 'number')
    throw new Error(`A graph for poses takes ${describe(inputs)}, not one image`)
  return { width, height }
}

function describe(tensors: readonly TensorShape[]): string {
  return tensors.map(({ name, shape }) => `${name} ${shape.join('×')}`).join(', ')
}
