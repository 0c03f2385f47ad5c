import { named } from '../../http/openapi/named-schema.ts'
import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'

/** Event names of apps, headless shops and storefronts. */
export const STOREFRONT_EVENT_NAMES = [
  'widget:button_click',
  'widget:image_upload',
  'widget:generation_start',
  'widget:result_view',
  'widget:share_clicked',
  'widget:download_clicked',
  'widget:add_to_cart_clicked',
  'widget:add_to_cart',
  'widget:email_collected',
  'product_page:page_view',
  'product_page:cart_add',
] as const

/** Event names of the widget behind a shop's proxy. */
export const TRACKING_EVENT_NAMES = [
  'product_page:page_view',
  'product_page:cart_add',
  'widget:button_view',
  'widget:button_click',
  'widget:modal_close',
  'widget:image_upload',
  'widget:image_upload_success',
  'widget:image_upload_error',
  'widget:generation_start',
  'widget:result_view',
  'widget:product_click',
  'widget:email_prompt_view',
  'widget:email_collected',
  'widget:share_clicked',
  'widget:download_clicked',
  'widget:add_to_cart_clicked',
  'widget:add_to_cart_success',
  'widget:add_to_cart_error',
  'order:created',
  'api:error',
] as const

export const MAX_EVENTS = 50

const eventOf = (names: readonly string[]) =>
  Type.Object({
    event: Type.Enum([...names]),
    properties: Type.Optional(
      Type.Unsafe<Readonly<Record<string, unknown>>>({
        type: 'object',
        description: 'Any JSON object of at most 8 KB.',
      }),
    ),
    timestamp: Type.String({
      format: 'iso-time',
      description: 'Time of the event by the clock of the sender: ISO 8601, UTC when it has no offset.',
      examples: ['2026-05-12T09:30:00.000Z'],
    }),
    $insert_id: Type.String({
      minLength: 1,
      maxLength: 255,
      description: 'Unique ID. Events of the account with the same ID count once.',
    }),
  })

export const StorefrontEvent = eventOf(STOREFRONT_EVENT_NAMES)
export const TrackingEvent = eventOf(TRACKING_EVENT_NAMES)

const Id = Type.String({ minLength: 1, maxLength: 255 })
const Text = Type.String({ maxLength: 8192 })
const ShortText = Type.String({ maxLength: 255 })
const Pixels = Type.Integer({ minimum: 0, maximum: 1_000_000 })
const prefixed = (prefix: string, description?: string) =>
  Type.String({ pattern: `^${prefix}`, maxLength: 255, ...(description && { description }) })
const maybe = <S extends Parameters<typeof Nullable>[0]>(schema: S) => Type.Optional(Nullable(schema))

export const StorefrontContext = Type.Object({
  anonymous_id: prefixed('anon_', 'The same as the header X-Service-Anonymous-Id.'),
  session_id: prefixed('sess_'),
  $pageview_id: Id,
  widget_version: prefixed('wv_'),
  widget_enabled: Type.Boolean(),
  product_id: Nullable(Id),
  variant_id: Nullable(Id),
  $screen_width: Type.Integer({ ...Pixels, description: '0 when there is no display.' }),
  $screen_height: Type.Integer({ ...Pixels, description: '0 when there is no display.' }),
  $timezone: ShortText,
  $current_url: maybe(Text),
  $pathname: maybe(Text),
  $host: maybe(ShortText),
  $viewport_width: maybe(Pixels),
  $viewport_height: maybe(Pixels),
  $raw_user_agent: maybe(Text),
  $browser_language: maybe(ShortText),
  integration: Type.Optional(Type.String({ maxLength: 255, description: 'Source of the batch.', examples: ['sdk'] })),
})

export const TrackingContext = Type.Object({
  $current_url: Text,
  $pathname: Text,
  $host: ShortText,
  $referrer: maybe(Text),
  $referring_domain: maybe(ShortText),
  $screen_width: Pixels,
  $screen_height: Pixels,
  $viewport_width: Pixels,
  $viewport_height: Pixels,
  $raw_user_agent: Text,
  $browser_language: ShortText,
  $timezone: ShortText,
  $session_id: Id,
  $pageview_id: Id,
  service_client_id: Type.String({
    pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$',
    description: 'A UUID.',
  }),
  service_widget_enabled: Type.Boolean(),
  service_product_id: maybe(Id),
  service_variant_id: maybe(Id),
  service_lib_version: ShortText,
})

export const StorefrontBatch = named(
  'StorefrontBatch',
  Type.Object({
    events: Type.Array(StorefrontEvent, { minItems: 1, maxItems: MAX_EVENTS }),
    context: StorefrontContext,
  }),
)

export const TrackingBatch = named(
  'TrackingBatch',
  Type.Object({
    events: Type.Array(TrackingEvent, { minItems: 1, maxItems: MAX_EVENTS }),
    context: TrackingContext,
  }),
)

export const EventsAnswer = named(
  'EventsAnswer',
  Type.Object({
    success: Type.Boolean({ description: 'Whether the whole batch was accepted.' }),
    message: Type.Optional(Type.String({ description: 'Problem of the first rejected event.' })),
  }),
)
export type EventsAnswer = Static<typeof EventsAnswer>
