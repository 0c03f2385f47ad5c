import { type Setting, splitWords } from '../shared/contract/setting.ts'
import { SHOP_SETTINGS } from '../shops/shop-settings.ts'
import { nonPersonal, personal, type TableMap } from './table-map.ts'

/** Columns of the settings of a shop, and the personal data in them. */
const SETTINGS = Object.entries<Setting>(SHOP_SETTINGS).map(
  ([name, { personal }]) => [splitWords(name, '_'), personal] as const,
)

/** What is stored of shoppers beside their images. */
export const SHOP_TABLES: Readonly<Record<string, TableMap>> = {
  leads: personal(
    {
      purpose: 'e-mail addresses that shoppers left for a shop without a platform of its own',
      lifetime: '`LEAD_RETENTION_DAYS` (730) after the address was last left',
      erasure: 'redaction; the page *Leads* of the dashboard',
    },
    {
      email: 'e-mail address',
      marketing_consent: 'consent to marketing e-mails',
      owner_ids: 'IDs of the shoppers who left it',
      tags: 'labels of the shopper',
      segments: 'segments of the shopper',
    },
    'shop_id created_at updated_at',
  ),
  lead_outbox: personal(
    {
      purpose: 'e-mail addresses to be delivered to the platform of the shop',
      lifetime:
        'until the platform has the address; an address that the platform rejects at most `LEAD_RETENTION_DAYS` (730)',
      erasure: 'redaction; the page *Leads* of the dashboard',
    },
    {
      email: 'e-mail address',
      marketing_consent: 'consent to marketing e-mails',
      owner_ids: 'IDs of the shoppers who left it',
      reason: 'answer of the platform',
    },
    'id shop_id created_at attempts available_at dead_at',
  ),
  consents: personal(
    {
      purpose: 'proves who agreed to which text, and who withdrew',
      lifetime: '3 years after the consent was given or withdrawn',
      erasure:
        'redaction, `POST /public/withdraw-consent`: the consent ends. The proof stays (GDPR, article 7 paragraph 1); it names no person',
    },
    {
      visitor: 'SHA-256 of account and shopper',
      version: 'the text that the visitor agreed to',
      language: 'language in which the text was shown',
      given_at: 'when the visitor agreed',
      withdrawn_at: 'when the visitor withdrew',
    },
    'id shop_id',
  ),
  consent_policies: nonPersonal('id account_id policy version texts published_at'),
  data_requests: personal(
    {
      purpose: 'answers the request of a customer for their data, which Shopify passes on',
      lifetime: '90 days',
      erasure: 'redaction',
    },
    { customer_id: 'ID at the platform', email: 'e-mail address', held: 'stored data of the customer' },
    'id shop_id request_id created_at',
  ),
  share_links: personal(
    {
      purpose: 'links to results that shoppers share',
      lifetime: 'the lifetime of the image, at most 30 days; then 30 more days as an expired link',
      erasure: 'the link shows nothing once the result is erased',
    },
    { token: 'opens the result', generation_id: 'ID of the try-on' },
    'shop_id domain expires_at created_at',
  ),
  shops: personal(
    {
      purpose: 'settings of a shop, and the secrets that authenticate its proxy',
      lifetime: 'no end',
      erasure: 'an operator changes it; `shop/redact` of Shopify deactivates the shop',
    },
    Object.fromEntries(SETTINGS.flatMap(([column, about]) => (about === undefined ? [] : [[column, about]]))),
    `id account_id platform domain secrets admin_token plan_ends_at created_at
    ${SETTINGS.flatMap(([column, about]) => (about === undefined ? [column] : [])).join(' ')}`,
  ),
  proxy_nonces: nonPersonal('shop_id nonce expires_at'),
}
