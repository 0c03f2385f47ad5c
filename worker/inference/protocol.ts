import type { EngineKind } from '../../api/shared/engine-catalogue.ts'
import type { ErrorCode, ErrorDetails, TryOnImage } from '../../api/shared/errors.ts'
import type { Detected, Options, Rectangle } from '../../api/shared/generation.ts'
import type { EngineManifest, EngineProof } from '../engines/engine.ts'
import type { DeviceFaultReason } from './device-fault.ts'

/** What the worker asks of its inference process, and what comes back. Both ends are ours and of one version. */
export interface Work {
  readonly prepare: { readonly request: PrepareRequest; readonly result: PreparedPhoto }
  readonly 'try-on': { readonly request: TryOnRequest; readonly result: TryOnResult }
}
export type WorkName = keyof Work

export interface PrepareRequest {
  readonly photo: Uint8Array
}

export interface PreparedPhoto {
  /** The 4:5 rectangle around the person, px of the photo. */
  readonly crop: Rectangle
  readonly personDetected: boolean
  readonly warnings: readonly string[]
  /** The cropped view as a JPEG. */
  readonly view: Uint8Array
}

export interface TryOnRequest {
  readonly engine: string
  readonly photo: Uint8Array
  /** `auto` asks for the crop to be found here because there is none yet. */
  readonly crop: Rectangle | 'auto' | 'none'
  readonly garment: Uint8Array
  readonly garmentHash: string
  /** The picture that marks the result, null for none, or `missing` when it should be there and is not. */
  readonly logo: Uint8Array | 'missing' | null
  /** What the caller says about the product, for its category. */
  readonly product: {
    readonly title: string | null
    readonly description: string | null
    readonly classifications: Readonly<Record<string, unknown>> | null
  }
  readonly options: Options
  /** The quality below which a result is drawn again or refused, 0 to 1; none for any. */
  readonly minQuality?: number | null
}

export interface TryOnResult {
  readonly image: Uint8Array
  readonly format: Options['format']
  readonly warnings: readonly string[]
  /** ms per stage. */
  readonly timings: Readonly<Record<string, number>>
  readonly category: string | null
  /** How good the result looks, 0 to 1; null where it could not be judged. */
  readonly quality: number | null
  /** What the product photo shows by its looks; null for an engine that does not look. */
  readonly detected: Detected | null
  /** What was found in a photo that had not been analysed before: only for `crop: 'auto'`. */
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
  /** Drop what was made of product photos with these SHA-256. */
  | { readonly type: 'forget'; readonly garmentHashes: readonly string[] }

export type FromProcess =
  /** With what the self-tests of its engines have seen. */
  | {
      readonly type: 'ready'
      readonly engines: Readonly<Record<string, EngineProof>>
      readonly manifests: readonly EngineManifest[]
    }
  /** It cannot be ready, and ends. */
  | { readonly type: 'unfit'; readonly problem: string; readonly deviceFault: DeviceFaultReason | null }
  /** How many prepared products it caches: after each piece of work, and after each `forget`. */
  | { readonly type: 'kept'; readonly count: number }
  | { readonly type: 'progress'; readonly id: number; readonly share: number }
  | { readonly type: 'done'; readonly id: number; readonly result: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly error: Failure }

export interface Failure {
  /** Null for an error that is not a DrapeError. */
  readonly code: ErrorCode | null
  /** Why the device is at fault; null when it is not. */
  readonly deviceFault: DeviceFaultReason | null
  readonly message: string
  readonly details?: ErrorDetails
  readonly image?: TryOnImage
  readonly retryable: boolean
  readonly stack?: string
}
