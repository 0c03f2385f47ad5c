import type { EngineKind } from '../../api/shared/engine-catalogue.ts'

const VOCABULARY = 'http://cv.iptc.org/newscodes/digitalsourcetype/'

/**
 * IPTC's term for how the results of an engine come about. A generative model edits the photo: `compositeWithTrainedAlgorithmicMedia`.
 * The preview engine puts the product over the photo by geometry, without a generative model: `composite`, not `compositeSynthetic`, which
 * says that an element comes from generative AI. An engine for tests crops and encodes again: `algorithmicallyEnhanced`.
 */
export function sourceTypeOf(kind: EngineKind): string {
  return VOCABULARY + TERMS[kind]
}

const TERMS = {
  photo: 'compositeWithTrainedAlgorithmicMedia',
  preview: 'composite',
  test: 'algorithmicallyEnhanced',
} as const satisfies Readonly<Record<EngineKind, string>>
