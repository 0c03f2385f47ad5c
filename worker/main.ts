// The inference processes open their models while the rest of the code loads, which takes about as long.
import './inference/first-processes.ts'

await import('./job/work.ts')
