import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'

const PlatformId = Type.Union([Type.Integer(), Type.String({ pattern: '^\\d{1,20}$' })])
const Optional = <T extends Parameters<typeof Nullable>[0]>(schema: T) => Type.Optional(Nullable(schema))

/** Fields of an order that are stored; others are ignored. */
export const Order = Type.Object({
  id: PlatformId,
  name: Optional(Type.String()),
  currency: Optional(Type.String()),
  total_price: Optional(Type.Union([Type.String(), Type.Number()])),
  created_at: Optional(Type.String()),
  customer: Optional(Type.Object({ id: Optional(PlatformId) })),
  line_items: Optional(
    Type.Array(
      Type.Object({
        product_id: Optional(PlatformId),
        variant_id: Optional(PlatformId),
        quantity: Optional(Type.Number()),
        price: Optional(Type.Union([Type.String(), Type.Number()])),
      }),
    ),
  ),
  note_attributes: Optional(
    Type.Array(Type.Object({ name: Optional(Type.String()), value: Optional(Type.Unsafe<unknown>({})) })),
  ),
})
export type Order = Static<typeof Order>

/** A request about the data of a customer. */
export const CustomerRequest = Type.Object({
  shop_domain: Type.String(),
  customer: Type.Object({
    id: Optional(PlatformId),
    email: Optional(Type.String({ maxLength: 1000, pattern: '^[^\\u0000]*$' })),
  }),
  orders_to_redact: Optional(Type.Array(PlatformId)),
  data_request: Optional(Type.Object({ id: Optional(PlatformId) })),
})
export type CustomerRequest = Static<typeof CustomerRequest>

export const ShopRequest = Type.Object({ shop_domain: Type.String() })

export const Webhook = Type.Object(
  {},
  { additionalProperties: true, description: 'Payload of the topic; unused fields are ignored.' },
)

export const WebhookAnswer = Type.Object({ success: Type.Literal(true) })
export type WebhookAnswer = Static<typeof WebhookAnswer>
