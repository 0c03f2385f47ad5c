import type { Connections } from '../config.ts'
import type { TryOns } from '../generations/start.ts'
import { createFetchLimiter, limitFetches } from '../http/limits/fetch-limit.ts'
import { createImages } from '../shared/image/person-photos.store.ts'
import { createImageFetcher } from '../shared/network/fetch-image.ts'
import { createHostLookup } from '../shared/network/host-lookup.ts'
import { createObjects } from '../shared/storage/objects.store.ts'
import { measureFetch } from '../shared/telemetry/measured.ts'
import { createPersonPhotos } from './person-photos.ts'
import { createProductPhotos } from './product-photos.ts'
import { createRegionMasks } from './region-masks.ts'
import { createStorageQuota } from './storage-quota.ts'

export type Photos = ReturnType<typeof createPhotos>

/** Creates the stores of photos and the fetchers of images by URL. */
export function createPhotos(
  { config, database, redis, storage, metrics }: Connections,
  { prepareQueue }: Pick<TryOns, 'prepareQueue'>,
) {
  const objects = createObjects(database)
  const images = createImages(database)
  const lookup = createHostLookup({ servers: config.FETCH_DNS_SERVERS })
  const limiter = createFetchLimiter()
  const fetcherOf = (failureCode: 'CUSTOMER_IMAGE_FETCH_FAILED' | 'PRODUCT_IMAGE_FETCH_FAILED') => {
    const { FETCH_ALLOW_CIDRS: allowCidrs, FETCH_ALLOW_PORTS: allowPorts } = config
    return limitFetches(
      measureFetch(createImageFetcher({ lookup, allowCidrs, allowPorts, failureCode }), metrics),
      limiter,
    )
  }
  const fetchPersonImage = fetcherOf('CUSTOMER_IMAGE_FETCH_FAILED')
  const reserveStorage = createStorageQuota({ sumBytes: objects.sumBytes })
  return {
    objects,
    images,
    lookup,
    reserveStorage,
    fetchProductImage: fetcherOf('PRODUCT_IMAGE_FETCH_FAILED'),
    personPhotos: createPersonPhotos({
      reserveStorage,
      images,
      storage,
      fetchImage: fetchPersonImage,
      prepareQueue,
      countWorkers: () => redis.countSlots('prepare'),
    }),
    regionMasks: createRegionMasks({ images, objects, storage, reserveStorage, fetchImage: fetchPersonImage }),
    productPhotos: createProductPhotos({ objects, storage, reserveStorage }),
  }
}
