import type { Models } from '../../inference/models.ts'

/** The models for product photos: the size of their square input in px, and the names of their input and output. */
export const GARMENT_MODELS = {
  salience: { side: 320, output: 'mask' },
  garment_category: { side: 224, output: 'categories' },
} as const

export type GarmentModel = keyof typeof GARMENT_MODELS

/** Runs a model on a square RGB image, 0 to 1, interleaved. Returns the numbers of its output. */
export type RunGarmentModel = (name: GarmentModel, image: Float32Array) => Promise<Float32Array>

export function runGarmentModels(models: Models): RunGarmentModel {
  return async (name, data) => {
    const { side, output } = GARMENT_MODELS[name]
    const results = await models.session(name).run({ image: { shape: [1, side, side, 3], data } })
    return results[output].data
  }
}
