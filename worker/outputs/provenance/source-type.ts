import type { EngineKind } from '../../../api/shared/engines/engine-catalogue.ts'

const VOCABULARY = 'http://cv.iptc.org/newscodes/digitalsourcetype/'

/**
 * IPTC digital source type of an engine's results. A generative model edits the photo: `compositeWithTrainedAlgorithmicMedia`. The preview
 * engine composites the product over the photo by geometry, without a generative model: `composite`, not `compositeSynthetic`, which means
 * that an element comes from generative AI. A test engine crops and re-encodes: `algorithmicallyEnhanced`.
 */
export function sourceTypeOf(kind: EngineKind): string {
  return VOCABULARY + TERMS[kind]
}

const TERMS = {
  photo: 'compositeWithTrainedAlgorithmicMedia',
  preview: 'composite',
  test: 'algorithmicallyEnhanced',
} as const satisfies Readonly<Record<EngineKind, string>>
