export const CHECK_USAGE = `\
  check NAME [--wait-seconds N]                         whether an installation works; tried until then
      migrations                                        the database has the schema of this version
      api --url URL --probe-urls URL                    it answers, knows keys and is ready
      workers                                           some take jobs of both queues
      storage                                           what is put there can be read and deleted
      queue --url URL                                   a job goes to a worker and comes back
      try-on --url URL                                  so does a real one, and its picture can be fetched
      metrics --probe-urls URL,URL                      processes give theirs
      dashboards --folder FOLDER                        they are there, and ask for something`

export const CHECK_OPTIONS = ['wait-seconds', 'url', 'probe-urls', 'folder']

/** The installation is not as it should be. */
export class CheckFailure extends Error {}
