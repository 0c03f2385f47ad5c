/** Engine name of try-ons with a test key. No worker runs this engine: the API creates the results. */
export const TEST_ENGINE = 'test-mode'
