import type { DataMap } from './table-map.ts'

/** A store outside of the database, identified by the prefix of its keys. */
export interface PlaceMap {
  /** Stored data. */
  readonly content: string
  /** Null for a place without personal data. */
  readonly about: DataMap | null
}

const ERASE = '`DELETE /tryon/v1/customers/{id}`'

/** Prefixes of keys in the object storage. */
export const STORAGE_PREFIXES: Readonly<Record<string, PlaceMap>> = {
  'persons/': {
    content: 'photos of persons and their cropped views, without metadata of the camera',
    about: { purpose: 'the input of a try-on', lifetime: 'that of the table `images`', erasure: ERASE },
  },
  'results/': {
    content: 'results of try-ons',
    about: {
      purpose: 'the output of a try-on',
      lifetime:
        'the lifetime of the photo, unless the call (`keepForDays`) or the account (`--result-days`) sets another',
      erasure: ERASE,
    },
  },
  'uploads/': {
    content: 'uploaded bytes that are not a photo yet',
    about: {
      purpose: 'the upload of a shopper',
      lifetime: 'until the upload is complete, at most 30 minutes after the link was created',
      erasure: ERASE,
    },
  },
  'held/': {
    content: 'images of erased end users under a legal hold',
    about: {
      purpose: 'a legal obligation to keep them',
      lifetime: 'until the hold ends',
      erasure: 'not while the hold lasts; no request reads them',
    },
  },
  'erasures/': {
    content: 'the erasure log: a hash of each erased end user, with the time',
    about: {
      purpose: 'repeats erasures after a backup is restored',
      lifetime: 'no end; keep it longer than the oldest backup',
      erasure: 'none: the erasure itself creates the hash',
    },
  },
  'products/': {
    content: 'product photos',
    about: {
      purpose: 'the garment of a try-on; can show a model',
      lifetime: 'the lifetime of the product',
      erasure: '`DELETE /tryon/v1/products/{externalId}`',
    },
  },
  'logos/': { content: 'logos of accounts', about: null },
  '.incomplete/': {
    content: 'files that are being written (`file:` storages only)',
    about: {
      purpose: 'readers never see a partial file',
      lifetime:
        'less than a second; of a crashed process until the next comparison with the database, a day later at the earliest',
      erasure: 'none before that',
    },
  },
}

const ADDRESS = 'network address or its keyed hash'

/** Families of keys in Redis. All of it can be lost: it is restored from the database, or has no personal data. */
export const REDIS_FAMILIES: Readonly<Record<string, PlaceMap>> = {
  'bull:': {
    content: 'jobs of workers: IDs of the generation or of the photo',
    about: {
      purpose: 'hands jobs to workers',
      lifetime: 'until the job ends',
      erasure: `${ERASE} removes jobs that no worker has started, and stops the others. The streams \`bull:…:events\` keep the IDs of try-ons and hashes of the IDs of photos`,
    },
  },
  'drape:rate:': {
    content: `counts of requests by shopper, account, e-mail address of an operator, ${ADDRESS}`,
    about: { purpose: 'limits', lifetime: '1 minute to 1 day, by the limit', erasure: 'not needed' },
  },
  'drape:bucket:': { content: 'levels of the limits of an account', about: null },
  'drape:refused:': {
    content: 'the last 20 refused requests of a shop, with the network address',
    about: {
      purpose: 'explains why requests of a shop were refused',
      lifetime: '24 hours',
      erasure: 'not needed',
    },
  },
  'drape:try-on-queues': { content: 'names of queues', about: null },
  'drape:workers:': { content: 'workers and their engines', about: null },
  'drape:engine-workers': { content: 'workers and their engines', about: null },
  'drape:engines': { content: 'what engines can do', about: null },
}
