import { createConsents } from '../consents/consents.store.ts'
import { createErasures } from '../erasure/erasures.store.ts'
import type { Core, Feature } from '../feature.ts'
import { createRateLimiter } from '../http/limits/rate-limiter.ts'
import { mount } from '../http/mount.ts'
import { readKeyPair } from '../shared/provenance/private-key.ts'
import { createProvenanceKeys } from '../shared/provenance/provenance-keys.store.ts'
import { watchAge } from '../shared/telemetry/measuring.ts'
import { createAppealUrls } from './appeals/appeal-reference.ts'
import { appealRoutes } from './appeals/appeals.routes.ts'
import { createSafetyReviews } from './appeals/safety-reviews.store.ts'
import { appealPageRoutes } from './appeals/shopper-appeal.routes.ts'
import { consentRoutes } from './consent/consent.routes.ts'
import { privacyRoutes } from './consent/privacy.routes.ts'
import { verifyRoutes } from './provenance/verify.routes.ts'
import { startIssuing } from './receipts/issue.ts'
import { receiptKeyRoutes } from './receipts/receipt-keys.routes.ts'
import { createReceiptKeys } from './receipts/receipt-keys.store.ts'
import { createReceiptMails } from './receipts/receipt-mails.store.ts'
import { createOrderReceiptMail } from './receipts/request-mail.ts'
import { startReceiptMailing } from './receipts/send-mail.ts'
import { startRemovals } from './removals/erase-removed.ts'
import { removalRoutes } from './removals/removal.routes.ts'
import { createRemovals } from './removals/removals.store.ts'

const ROUTES = [
  ...appealRoutes,
  ...consentRoutes,
  ...verifyRoutes,
  ...privacyRoutes,
  ...appealPageRoutes,
  ...removalRoutes,
  ...receiptKeyRoutes,
]

/** A text of 1,000 characters, and no file. */
const APPEAL_FORM = { maxJsonBytes: 16 * 1024, maxFiles: 0 }

/** What persons and auditors are promised: consent, appeals, receipts of erasures, removal requests, provenance. */
export const trust: Feature = {
  name: 'trust',
  operations: ROUTES,
  start: (core) => {
    const { config, database, backgroundDatabase, lifecycle, log } = core
    watchWaiting(core)
    const issuing = startReceipts(core)
    const removing = startRemovals({ removals: createRemovals(backgroundDatabase), erase: core.erase, log })
    lifecycle.onStop('removals', () => removing.stop())
    return {
      onErased: issuing.wake,
      appealUrlOf: createAppealUrls({ publicUrl: config.PUBLIC_URL, secret: config.SIGNING_SECRET }),
      orderReceiptMail: startReceiptMails(core),
      routes: [
        mount(ROUTES, {
          ...core,
          consents: createConsents(database),
          reviews: createSafetyReviews(database),
          removals: createRemovals(database),
          receiptKeys: createReceiptKeys(database),
          provenanceKeys: createProvenanceKeys(database),
          parseVerified: core.parseOf('verify'),
          parseRemoval: core.parseOf('removal'),
          parseAppeal: core.parseOf('appeal', APPEAL_FORM),
          signingSecret: config.SIGNING_SECRET,
          serviceName: config.SERVICE_NAME,
          publicUrl: config.PUBLIC_URL,
          // Facts about the installation for the privacy pages of all shops.
          installation: {
            processor: config.PRIVACY_PROCESSOR || config.SERVICE_NAME,
            leadDays: config.LEAD_RETENTION_DAYS,
            eventDays: config.EVENT_RETENTION_DAYS,
            analyticsUrl: config.ANALYTICS_URL,
          },
        }),
      ],
    }
  },
}

function watchWaiting(core: Core): void {
  watchAge(
    {
      name: 'drape_reviews_oldest_seconds',
      help: 'Seconds since the oldest appeal without a decision of a live account was made; 0 if there is none',
    },
    createSafetyReviews(core.database).measureOldest,
    core,
  )
  watchAge(
    {
      name: 'drape_erasures_oldest_seconds',
      help: 'Seconds since the request of the oldest erasure whose receipt is not issued; 0 if there is none',
    },
    core.erasures.measureOldest,
    core,
  )
}

function startReceipts({ config, backgroundDatabase, tryOnQueues, storage, lifecycle, log }: Core) {
  const key = readKeyPair(config.RECEIPT_KEY, 'RECEIPT_KEY')
  if (key.isMade)
    log.warn('RECEIPT_KEY is not set: receipts are signed with a temporary key, which is lost when this process exits')
  const issuing = startIssuing({
    erasures: createErasures(backgroundDatabase),
    receiptKeys: createReceiptKeys(backgroundDatabase),
    dropJobs: tryOnQueues.drop,
    key,
    installation: config.PUBLIC_URL,
    storage,
    log,
  })
  lifecycle.onStop('erasure receipts', () => issuing.stop())
  return issuing
}

function startReceiptMails(core: Core) {
  const { config, sendMail, database, backgroundDatabase, redis, lifecycle, log, metrics } = core
  if (sendMail === null) return undefined
  const mailing = startReceiptMailing({
    mails: createReceiptMails(backgroundDatabase),
    send: sendMail,
    log,
    installation: config.PUBLIC_URL,
    serviceName: config.SERVICE_NAME,
  })
  lifecycle.onStop('receipt mails', () => mailing.stop())
  return createOrderReceiptMail({
    mails: createReceiptMails(database),
    signingSecret: config.SIGNING_SECRET,
    createRateLimiter: (budget) => createRateLimiter({ redis, onLocal: () => metrics.localCounts.inc(), ...budget }),
  })
}
