import { type Static, Type } from '../shared/contract/schema.ts'
import { optionalMembers, type Setting, type Settings } from '../shared/contract/setting.ts'
import { ENGINE_NAME_RULE, engineName } from '../shared/engines/engine-names.ts'
import { ACCOUNT_CLASSES, SAFETY_LEVELS } from '../shared/generations/generation.ts'

/** Requests per minute of an account without limits of its own. Reads: 200 callers that poll every 2 s. */
export const DEFAULT_REQUESTS = { reads: 6000, writes: 100, polls: 300 } as const
export const DEFAULT_FAILED_PER_HOUR = 200
export const DEFAULT_STORAGE_MEGABYTES = 102_400

/** What the price of a try-on pays for. */
export const OUTFIT_PRICINGS = ['layer', 'outfit'] as const

const DAYS = { minimum: 1, maximum: 90 } as const
const COUNT = { minimum: 1, maximum: 1_000_000_000 } as const
/** From 0. */
const AMOUNT = { ...COUNT, minimum: 0 } as const
const MAX_FALLBACK_ENGINES = 5

/** Settings with a column of their own. */
export const ACCOUNT_COLUMNS = {
  name: { schema: Type.String({ minLength: 1, maxLength: 200 }), label: 'Name', placeholder: 'name' },
  email: {
    schema: Type.String({ format: 'email', maxLength: 320 }),
    label: 'E-mail address',
    absent: 'no notices are sent',
    placeholder: 'address',
  },
  retentionDays: {
    schema: Type.Integer(DAYS),
    label: 'Days until photos are deleted',
    hint: 'A request may choose 1, 3 or 7.',
  },
} as const satisfies Settings

/** The engine of try-ons that name none. */
export const DEFAULT_ENGINE = {
  schema: engineName(),
  label: 'Default engine',
  placeholder: 'name',
  rule: `the name of an engine: ${ENGINE_NAME_RULE}`,
  namesEngines: true,
} as const satisfies Setting

/** What images are checked for, in the words of `docs/safety.md`. */
export const SAFETY_LEVEL = {
  schema: Type.Enum([...SAFETY_LEVELS]),
  label: 'Safety level',
  meanings: {
    off: 'images are not checked',
    standard: 'refuse nudity',
    strict: 'refuse nudity, underwear, swimwear and several people',
  },
} as const satisfies Setting

export const ALLOWS_SWIMWEAR = {
  schema: Type.Boolean(),
  label: 'Images may show underwear and swimwear',
} as const satisfies Setting

const NO_LIMIT = 'no limit'

/** Settings in the JSON object `settings`. */
export const ACCOUNT_SETTINGS = {
  resultDays: {
    schema: Type.Integer(DAYS),
    label: 'Days until results are deleted',
    absent: 'the same as the photo',
  },
  defaultEngine: { ...DEFAULT_ENGINE, absent: 'default of the installation' },
  fallbackEngines: {
    schema: Type.Array(engineName(), { minItems: 1, maxItems: MAX_FALLBACK_ENGINES }),
    label: 'Fallback engines',
    absent: 'a try-on waits for its engine',
    hint: 'Used when the engine of a try-on is unavailable, in this order, separated by commas.',
    placeholder: 'name,name',
    rule: `1 to ${MAX_FALLBACK_ENGINES} names of engines, separated by commas: ${ENGINE_NAME_RULE}`,
    namesEngines: true,
  },
  fallbackAfterSeconds: {
    schema: Type.Integer({ minimum: 0, maximum: 3600 }),
    label: 'Fall back after seconds',
    absent: 'only while no worker runs the engine',
    hint: 'Estimated seconds until the start.',
  },
  minQualityPercent: {
    schema: Type.Integer({ minimum: 0, maximum: 100 }),
    label: 'Minimum quality in percent',
    absent: 'the 30 % that every preview needs',
    hint: 'Previews below it are refused. Results of other engines have no quality.',
  },
  safetyLevel: { ...SAFETY_LEVEL, absent: 'off' },
  allowsSwimwear: ALLOWS_SWIMWEAR,
  outfitPricing: {
    schema: Type.Enum([...OUTFIT_PRICINGS]),
    label: 'Price of outfits',
    absent: 'layer',
    meanings: { layer: 'one try-on for each product', outfit: 'one try-on for all products' },
  },
  reuseCredits: {
    schema: Type.Integer(AMOUNT),
    label: 'Credits for a reused result',
    absent: 'every result is made anew',
    hint: 'A try-on that repeats an earlier one gets a copy of its result for this price, at most that of the try-on.',
  },
  serviceClass: {
    schema: Type.Enum([...ACCOUNT_CLASSES]),
    label: 'Class of service',
    absent: 'standard',
    hint: 'In metrics and objectives.',
  },
  writesPerMinute: {
    schema: Type.Integer(COUNT),
    label: 'Write requests per minute',
    absent: String(DEFAULT_REQUESTS.writes),
  },
  readsPerMinute: {
    schema: Type.Integer(COUNT),
    label: 'Read requests per minute',
    absent: String(DEFAULT_REQUESTS.reads),
  },
  monthlyGenerations: {
    schema: Type.Integer(COUNT),
    label: 'Generations per month',
    absent: NO_LIMIT,
    hint: 'Of a calendar month (UTC), without failed ones.',
  },
  concurrentGenerations: { schema: Type.Integer(COUNT), label: 'Concurrent generations', absent: NO_LIMIT },
  failedGenerationsPerHour: {
    schema: Type.Integer(COUNT),
    label: 'Failed generations per hour',
    absent: String(DEFAULT_FAILED_PER_HOUR),
    hint: 'In addition to as many as were completed.',
  },
  storageMegabytes: {
    schema: Type.Integer(AMOUNT),
    label: 'Storage quota in megabytes',
    absent: String(DEFAULT_STORAGE_MEGABYTES),
  },
  creditsLowAt: {
    schema: Type.Integer(AMOUNT),
    label: 'Low credits threshold',
    absent: 'never',
    hint: 'Balance at which the event credits.low and, with an e-mail address, an e-mail are sent.',
  },
  failuresHighAt: {
    schema: Type.Integer({ minimum: 1, maximum: 100 }),
    label: 'High failure rate in percent',
    absent: 'never',
    hint: 'Share of the try-ons of an hour, of at least 10, that the service failed, at which an e-mail is sent.',
  },
} as const satisfies Settings

export const AccountSettings = optionalMembers(ACCOUNT_SETTINGS)
export type AccountSettings = Static<typeof AccountSettings>
