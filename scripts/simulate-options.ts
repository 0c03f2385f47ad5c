// Apart from the command, which loads much that others do not need.

export const SIMULATE_USAGE = `  simulate --policy FILE                                simulate a ScalingPolicy or WorkerPool
      [--trace FILE | --jobs-per-minute N --minutes N --seed N] [--seconds-per-job N] [--start-seconds N]
      [--starts-at TIME] [--plot FILE.svg]              lines of a trace: "second,jobs"`

export const SIMULATE_OPTIONS = [
  ...['policy', 'trace', 'plot', 'jobs-per-minute', 'minutes', 'seed', 'seconds-per-job', 'start-seconds', 'starts-at'],
]
