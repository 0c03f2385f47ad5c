export {
  DrapeApiError,
  DrapeConnectionError,
  DrapeTimeoutError,
  type ErrorCode,
  type FieldProblem,
  isApiError,
} from './api-error.ts'
export { createDrapeClient, type DrapeClient, type OutfitCall, type TryOnCall, type UploadOptions } from './client.ts'
export type { ConnectionOptions } from './connection.ts'
export { createEventSender, type EventSenderOptions, type SendEvents, type ShopperEvent } from './event-sender.ts'
export { type FileInput, MAX_FILE_BYTES } from './file-input.ts'
export { type CompletedGeneration, DrapeGenerationError, type WaitOptions } from './generation-wait.ts'
export type { ProductCalls } from './products.ts'
export type { CallOptions, WriteOptions } from './request.ts'
export type {
  AcceptedOutfit,
  AcceptedTryOn,
  Account,
  Analytics,
  AnalyticsDay,
  AnalyticsQuery,
  Appeal,
  Credits,
  EngineDescription,
  EngineList,
  EventsAnswer,
  Generation,
  GenerationResult,
  Outfit,
  OutfitLayer,
  Product,
  ProductList,
  ProductStatistics,
  StorefrontBatch,
  TryOn,
  Upload,
  WebhookMessage,
} from './schemas.ts'
export type {
  ImageInput,
  OutfitInput,
  OutputInput,
  PersonInput,
  ProductFields,
  ProductImageInput,
  ProductInput,
  TryOnInput,
} from './try-on-body.ts'
export { DrapeWebhookError, type ReceivedWebhook, verifyWebhook } from './webhook.ts'
