/** What stands for the engine of a try-on with a test key. No worker runs it: the API makes the results. */
export const TEST_ENGINE = 'test-mode'
