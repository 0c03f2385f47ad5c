// The inference processes open their models while the rest of the code is loaded, which takes as long.
import './first-processes.ts'

await import('./work.ts')
