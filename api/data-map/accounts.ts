import { nonPersonal, personal, type TableMap } from './table-map.ts'

/** Customers of the installation, mostly companies. */
export const ACCOUNT_TABLES: Readonly<Record<string, TableMap>> = {
  accounts: personal(
    {
      purpose: 'payer and contact of the account',
      lifetime: 'no end',
      erasure: 'an operator changes name and address',
    },
    { name: 'name, which can be that of a person', email: 'contact' },
    'id balance is_active retention_days settings created_at logo_key credits_low_since test_of',
  ),
  api_keys: personal(
    { purpose: 'authenticates programs of the account', lifetime: 'no end', erasure: 'none' },
    {
      key_name: 'name of the key, as the account chose it',
      allowed_cidrs: 'network addresses from which the key may be used',
    },
    'id account_id kind hash created_at revoked_at scopes expires_at last_used_at last_four',
  ),
  ledger: personal(
    { purpose: 'proves every change of credits', lifetime: 'no end', erasure: 'none' },
    { note: 'reason, as the operator wrote it' },
    'id account_id amount kind generation_id created_at',
  ),
  webhook_endpoints: nonPersonal(
    'id account_id url event_types secrets is_active disabled_at disabled_reason failing_since failures paused_until created_at',
  ),
  webhook_listeners: nonPersonal('id account_id event_types expires_at created_at'),
  request_log: nonPersonal(
    'account_id is_refused slot method route status error_code key_last_four duration_ms request_id created_at',
  ),
  request_log_counts: nonPersonal('account_id is_refused count'),
}
