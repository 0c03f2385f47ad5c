import { expect, it } from 'vitest'
import { createReadiness } from '../../../worker/job/readiness.ts'

it('a worker takes jobs while every condition holds, and not during a pause', () => {
  let [time, isOpen] = [0, false]
  const noted: boolean[] = []
  const readiness = createReadiness({ now: () => time })
  readiness.require(() => true)
  readiness.require(() => isOpen)
  readiness.onNote(() => noted.push(readiness.mayTake()))
  readiness.note()
  isOpen = true
  readiness.note()
  expect(noted).toEqual([false, true])
  readiness.pause(1000)
  time = 999
  expect([readiness.canWork(), readiness.mayTake()]).toEqual([true, false])
  time = 1000
  expect(readiness.mayTake()).toBe(true)
})
