/** Days for which a request can keep its images. Without a wish of the request, the days of the account apply. */
export const IMAGE_DAYS = [1, 3, 7] as const
/** Days after its last use at which a product without an external ID expires. */
export const ONE_SHOT_PRODUCT_DAYS = 7
/** Days after its last use at which a product created by a try-on call expires. */
export const INLINE_PRODUCT_DAYS = 15
