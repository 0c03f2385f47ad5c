import { nonPersonal, personal, type TableMap } from './table-map.ts'

const ERASE = '`DELETE /tryon/v1/customers/{id}`'

/** Photos of persons, results made of them, and the work on both. */
export const PERSON_TABLES: Readonly<Record<string, TableMap>> = {
  objects: personal(
    {
      purpose: 'finds the objects of the storage',
      lifetime: 'the lifetime of its object; for an upload that may still arrive 10 more minutes, without its owner',
      erasure: `${ERASE}. Under a legal hold the row stays until the hold ends`,
    },
    { external_user_id: 'ID of the end user', key: 'ID of the photo or the result' },
    'account_id kind expires_at created_at bytes claimed_until',
  ),
  images: personal(
    {
      purpose: 'lets a try-on use an uploaded photo',
      lifetime: '`keepForDays` of the call (1, 3 or 7), otherwise the days of the account (1 to 90, 7 by default)',
      erasure: ERASE,
    },
    {
      id: 'ID of the photo',
      object_key: 'where the photo is stored',
      external_user_id: 'ID of the end user',
      address_user_id: 'keyed hash of the network address of a visitor',
      crop: 'where the person is in the photo',
      person_detected: 'whether the photo shows a person',
      warnings: 'quality of the photo',
    },
    'account_id width height crop_mode expires_at created_at keep_for_days',
  ),
  image_hashes: personal(
    {
      purpose: 'finds copies of an image that a person asks to remove',
      lifetime: 'the lifetime of its object',
      erasure: `the deletion of its object, by ${ERASE} and removal requests too`,
    },
    { object_key: 'ID of the photo or the result', hash: 'perceptual hash of the image' },
    '',
  ),
  generations: personal(
    {
      purpose: 'state, price and statistics of a try-on',
      lifetime:
        'the record stays, without its images once they expire; `visitor_address` 2 days; `shopper_hash` until the ISO week ends; records of test keys 1 day. The IDs of the end users stay until they are erased',
      erasure: `${ERASE} sets the IDs of end user, photo and result and the salt to null and cancels unfinished work, also of what others made of a photo of the end user; the record stays, with the hash of the shopper, so that an erasure does not reset the weekly limit`,
    },
    {
      image_id: 'ID of the photo',
      external_user_id: 'ID of the end user',
      photo_user_id: 'ID of the end user of the photo, if it is another one',
      result_key: 'where the result is stored',
      visitor_address: 'keyed hash of the network address of a visitor',
      shopper_hash: 'keyed hash of the ID of a shopper of a shop',
      ingredient_salt: 'links a result to its photo',
    },
    `id account_id product_id product_external_id status attempt worker lease_until deadline_at cost engine options snapshot progress
    images_expire_at error_code error_message warnings timings engine_info category created_at started_at finished_at updated_at
    shop_id requested_engine error_details quality consent attempt_dispatched_at past_attempts`,
  ),
  outbox: personal(
    {
      purpose: 'jobs that workers have not finished',
      lifetime: 'until the generation ends, at the latest at its deadline',
      erasure: `${ERASE} cancels the generation`,
    },
    { payload: 'IDs of the end user and the photo' },
    'generation_id account_id queue available_at dispatched_at created_at engine_name is_batch',
  ),
  idempotency_keys: personal(
    {
      purpose: 'returns the first response to a repeated request',
      lifetime: '24 hours',
      erasure: `${ERASE} deletes the rows of photos and the answers of generations`,
    },
    { answer: 'links to a photo or a result', resource_id: 'ID of the photo or the generation' },
    'account_id route key fingerprint attempt lease_until status created_at',
  ),
  legal_holds: personal(
    {
      purpose: 'keeps images that must not be deleted',
      lifetime: 'until the policy with the hold is changed or deleted',
      erasure: 'none: ends with the hold',
    },
    { external_user_id: 'ID of the end user' },
    'source policy account_id',
  ),
  erased_customers: personal(
    {
      purpose: 'refuses calls that were sent before an erasure',
      lifetime: '1 hour',
      erasure: 'none: the erasure creates the row',
    },
    { customer: 'SHA-256 of account and end user' },
    'erased_at',
  ),
  webhook_deliveries: personal(
    {
      purpose: 'delivers events to the account and shows the log',
      lifetime: '14 days; `customer.erased` names the end user until it is delivered',
      erasure: 'none before that',
    },
    { data: 'ID of the end user, in `customer.erased` only' },
    `id endpoint_id event_id type happened_at status attempts next_attempt_at last_attempt_at last_status last_error ended_at created_at`,
  ),
  erasures: personal(
    {
      purpose: 'proves an erasure by a signed receipt',
      lifetime: '3 years after the receipt; 90 days without one',
      erasure: 'none: the erasure itself creates the hash',
    },
    { customer: 'hash of the ID of the end user' },
    'id account_id requested_at log_key erased_at cached_until held_objects waits_for check_at issued_at receipt leaves',
  ),
  receipt_mails: personal(
    {
      purpose: 'sends the receipt of an erasure by e-mail',
      lifetime: 'until the e-mail is sent or abandoned, at most 14 days after the receipt',
      erasure: 'sending the e-mail',
    },
    { address: 'e-mail address that the call for the erasure named' },
    'erasure_id attempts send_at created_at',
  ),
  erased_objects: personal(
    {
      purpose: 'lists what an erasure deleted',
      lifetime: 'until the receipt is issued, at most 90 days',
      erasure: 'issuing the receipt',
    },
    { key: 'ID of a deleted photo or result' },
    'erasure_id kind bytes',
  ),
  removal_requests: personal(
    {
      purpose: 'removal requests',
      lifetime: 'until 90 days after the decision; the hashes until the decision',
      erasure: 'none: the row proves that the request was answered',
    },
    {
      email: 'e-mail address of the requester',
      reason: 'as the requester wrote it',
      hashes: 'perceptual hashes of the sent image, which is not stored',
      answer: 'why an operator declined',
    },
    'id reference state created_at due_at decided_at check_at',
  ),
  safety_refusals: personal(
    {
      purpose: 'appeals, and lets an allowed pair of images pass',
      lifetime: '90 days; with an appeal, until 90 days after the decision',
      erasure: 'deleted with the appeal',
    },
    {
      failed_check: 'which check refused, for example that of the age',
      person_hashes: 'perceptual hashes of the photo',
      product_hashes: 'perceptual hash of the product image',
      image_digests: 'SHA-256 of photo and product image',
      generation_id: 'ID of the try-on',
    },
    'account_id image created_at',
  ),
  safety_reviews: personal(
    {
      purpose: 'appeals and the decisions of operators',
      lifetime: 'the lifetime of the refusal',
      erasure: 'deleted with the refusal',
    },
    {
      reason: 'as the account or the shopper wrote it',
      answer: 'answer of the operator',
      generation_id: 'ID of the try-on',
      used_by: 'ID of the try-on in which the allowed pair passed',
    },
    'version state created_at decided_at by_shopper',
  ),
  safety_blocks: personal(
    {
      purpose: 'images that operators blocked after a review',
      lifetime: 'until its expiry or removal',
      erasure: 'none: the hash identifies no person, and keeps the image refused',
    },
    {
      hash: 'perceptual hash of a photo or a product image',
      product_hash: 'of the product image blocked with the photo',
    },
    'id image account_id created_at expires_at',
  ),
  removal_erasures: nonPersonal('request_id account_id erasure_id'),
  applied_erasures: personal(
    {
      purpose: 'shows which erasures a restored backup lacks',
      lifetime: 'until the first start of the API more than a week later; the newest entries are kept',
      erasure: 'none: the erasure itself creates the hash',
    },
    { log_key: 'hash of the ID of the end user, with the time of the erasure' },
    '',
  ),
  erased_rows: nonPersonal('erasure_id name count'),
  erased_jobs: nonPersonal('erasure_id generation_id attempt'),
}
