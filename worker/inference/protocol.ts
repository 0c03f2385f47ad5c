import type {
  ErrorCode,
  ErrorDetails,
  SafetyAllowance,
  SafetyCheck,
  TryOnImage,
} from '../../api/shared/contract/errors.ts'
import type { EngineKind } from '../../api/shared/engines/engine-catalogue.ts'
import type { Detected, Options, Rectangle, SafetyPolicy } from '../../api/shared/generations/generation.ts'
import type { EngineManifest, EngineProof } from '../engines/engine.ts'
import type { DownloadProgress } from '../engines/files/open-complete.ts'
import type { Person } from '../vision/person/person.ts'
import type { DeviceFaultReason } from './device-fault.ts'

/** Requests and results of the inference process. Both sides always have the same version. */
export interface Work {
  readonly prepare: { readonly request: PrepareRequest; readonly result: PreparedPhoto }
  readonly 'try-on': { readonly request: TryOnRequest; readonly result: TryOnResult }
}
export type WorkName = keyof Work

export type FaceAndHands = Pick<Person, 'face' | 'hands'>

export interface PrepareRequest {
  readonly photo: Uint8Array
}

export interface PreparedPhoto {
  /** The 4:5 rectangle around the person, in px of the photo. */
  readonly crop: Rectangle
  readonly personDetected: boolean
  readonly warnings: readonly string[]
  /** The crop as a JPEG. */
  readonly view: Uint8Array
  /** Perceptual hash of the view; null when it has none. */
  readonly hash: string | null
}

export interface TryOnRequest {
  readonly engine: string
  readonly photo: Uint8Array
  /** `auto`: find the crop in the inference process, because none is stored. */
  readonly crop: Rectangle | 'auto' | 'none'
  /** Face and hands in px of the crop, found before the photo was drawn on; absent: they are found in the photo. */
  readonly body?: FaceAndHands
  /** Mask of the part of the photo that may change, white; null or absent: all. */
  readonly mask?: Uint8Array | null
  readonly garment: Uint8Array
  readonly garmentHash: string
  /** Logo to draw on the result; null for none, `missing` if it should exist but does not. */
  readonly logo: Uint8Array | 'missing' | null
  /** The caller's texts and classifications of the product, for its category. */
  readonly product: {
    readonly title: string | null
    readonly description: string | null
    readonly classifications: Readonly<Record<string, unknown>> | null
  }
  readonly options: Options
  /** Quality, 0 to 1, below which a result is redrawn or rejected; null or absent: no minimum. */
  readonly minQuality?: number | null
  /** Safety policy of the account; null or absent: everything is allowed. */
  readonly safety?: SafetyPolicy | null
  /** Checks that operators have allowed for this pair of images. */
  readonly allowances?: readonly SafetyAllowance[]
}

export interface ResultImage {
  readonly image: Uint8Array
  /** Perceptual hash; null when the image has none. */
  readonly hash: string | null
  /** PNG of what it changes, black where it equals the photo; absent if none was requested. */
  readonly changed?: Uint8Array
  readonly seed: number
  /** Quality of the result, 0 to 1; null if unknown. */
  readonly quality: number | null
}

/** The first result, and everything about the job. */
export interface TryOnResult extends ResultImage {
  /** The other results; absent for one result. */
  readonly others?: readonly ResultImage[]
  /** The results that must not be shown; absent if none. */
  readonly refused?: readonly { readonly seed: number; readonly errorCode: ErrorCode; readonly errorMessage: string }[]
  readonly format: Options['format']
  readonly warnings: readonly string[]
  /** ms per stage. */
  readonly timings: Readonly<Record<string, number>>
  readonly category: string | null
  /** What the product photo shows; null for an engine without detection. */
  readonly detected: Detected | null
  /** The person's, for the next layer of an outfit; absent without a person. */
  readonly body?: FaceAndHands
  /** As of the engine's result. */
  readonly hidesTops?: boolean
  /** Analysis of a photo that was not analysed before: only for `crop: 'auto'`. */
  readonly found: Pick<PreparedPhoto, 'crop' | 'personDetected' | 'warnings'> | null
  readonly engine: {
    readonly name: string
    readonly version: string
    readonly license: string
    readonly kind: EngineKind
  }
}

export type ToProcess =
  | { readonly type: 'run'; readonly id: number; readonly work: WorkName; readonly request: unknown }
  | { readonly type: 'abort'; readonly id: number }
  /** Get faster while there is no work, at most until the first one. */
  | { readonly type: 'warm' }
  /** Evict the cached garments of product photos with these SHA-256 hashes. */
  | { readonly type: 'evict'; readonly garmentHashes: readonly string[] }

export type FromProcess =
  /** Sent before `ready`, each time the process begins to wait for files, and each time it has files to open. */
  | ({ readonly type: 'waiting' } & DownloadProgress)
  /** Sent after the self-tests, with their findings. */
  | {
      readonly type: 'ready'
      readonly engines: Readonly<Record<string, EngineProof>>
      readonly manifests: readonly EngineManifest[]
    }
  /** The process cannot become ready, and exits. */
  | { readonly type: 'unready'; readonly problem: string; readonly deviceFault: DeviceFaultReason | null }
  | { readonly type: 'progress'; readonly id: number; readonly share: number }
  | { readonly type: 'done'; readonly id: number; readonly result: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly error: Failure }

export interface Failure {
  /** Null for an error that is not a DrapeError. */
  readonly code: ErrorCode | null
  /** Why the device is at fault; null if it is not. */
  readonly deviceFault: DeviceFaultReason | null
  readonly message: string
  readonly details?: ErrorDetails
  readonly image?: TryOnImage
  readonly check?: SafetyCheck
  readonly retryable: boolean
  readonly stack?: string
}
