import type { FreeCommand } from './command.ts'

export const doctorCommand: FreeCommand = {
  summary: 'find problems of this installation, each with a fix',
  run: async () => {
    const diagnosis = await (await import('./doctor/diagnose.ts')).diagnose(process.env)
    if (diagnosis.problems > 0) process.exitCode = 1
    return { ...diagnosis }
  },
}
