/** Name under which the controller writes. */
export const FIELD_MANAGER = 'drape-controller'
