import { personal, type TableMap } from './table-map.ts'

const DISABLED = 'none: an operator is disabled, not deleted'

/** People who use the dashboard, and what they did there. */
export const OPERATOR_TABLES: Readonly<Record<string, TableMap>> = {
  operators: personal(
    { purpose: 'signs operators in', lifetime: 'no end', erasure: DISABLED },
    { email: 'e-mail address', name: 'name', password_hash: 'Argon2id hash of the password' },
    'id is_active created_at role',
  ),
  operator_second_factors: personal(
    { purpose: 'second factor at sign-in', lifetime: 'until it is reset', erasure: 'reset by an admin' },
    { secret: 'secret of the authenticator app, encrypted', recovery_hashes: 'hashes of recovery codes' },
    'operator_id confirmed_at last_step created_at',
  ),
  operator_sessions: personal(
    {
      purpose: 'keeps an operator signed in',
      lifetime: '30 minutes without activity, at most 12 hours; the row 7 days after its last use',
      erasure: 'sign-out, or a disabled operator',
    },
    { operator_id: 'the operator', hash: 'hash of the cookie', seen_at: 'time of the last request' },
    'created_at form_key method',
  ),
  operator_sign_ins: personal(
    { purpose: 'waits for the code after the password', lifetime: '5 minutes', erasure: 'not needed' },
    { operator_id: 'the operator', hash: 'hash of the cookie' },
    'created_at',
  ),
  operator_kept_forms: personal(
    {
      purpose: 'restores an unsent form after the session has ended',
      lifetime: '60 minutes; deleted when another form is stored',
      erasure: 'signing in and opening the form',
    },
    { operator_id: 'the operator', fields: 'typed values, without secrets' },
    'form action created_at',
  ),
  operator_audit: personal(
    {
      purpose: 'proves who did what and why, including views of photos',
      lifetime: 'no end: the database refuses to change or delete entries',
      erasure: 'none',
    },
    {
      operator_id: 'the operator',
      operator_email: 'e-mail address at that time',
      actor: 'user and host on the command line',
      address: 'network address',
      reason: 'as the operator wrote it',
      details: 'values that were changed, such as the contact of an account',
    },
    'id action object account_id form created_at',
  ),
}
