/** Field manager of the controller's writes. */
export const FIELD_MANAGER = 'drape-controller'
