// Apart from the command, which loads much that others do not need.

export const SIMULATE_USAGE = `  simulate --policy FILE                                what a ScalingPolicy or WorkerPool would do
      [--trace FILE | --jobs-per-minute N --minutes N --seed N] [--seconds-per-job N] [--start-seconds N]
      [--starts-at TIME] [--plot FILE.svg]              a trace has lines of "second,jobs"`

export const SIMULATE_OPTIONS = [
  ...['policy', 'trace', 'plot', 'jobs-per-minute', 'minutes', 'seed', 'seconds-per-job', 'start-seconds', 'starts-at'],
]
