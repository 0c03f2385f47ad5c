// Apart from the command, which loads what others do not need.

export const IMPORT_USAGE = `  products import FILE [--report FILE] [--wait-images]  send a catalogue (.csv, .ndjson, .json) in batches of 500 to the service at
                                                        DRAPE_URL, with the key DRAPE_API_KEY or --key-file PATH|-; after an
                                                        interruption the same command continues. Products that fail are written
                                                        to the report (FILE.failures.ndjson), and the exit code is 1`

export const IMPORT_OPTIONS = ['report']
export const IMPORT_SWITCHES = ['wait-images']
