export const CHECK_USAGE = `\
  check NAME [--wait-seconds N]                         check an installation; retry until the check succeeds or N seconds pass
      migrations                                        the database schema is current
      api --url URL --probe-urls URL                    the API responds, authenticates keys and is ready
      workers                                           live workers serve both queues
      storage                                           objects can be written, read and deleted
      queue --url URL                                   a worker completes a job
      try-on --url URL                                  a try-on completes, and its result can be downloaded
      metrics --probe-urls URL,URL                      every process serves metrics
      dashboards --folder FOLDER                        the dashboards exist and contain queries`

export const CHECK_OPTIONS = ['wait-seconds', 'url', 'probe-urls', 'folder']

/** The installation is not as it should be. */
export class CheckFailure extends Error {}
