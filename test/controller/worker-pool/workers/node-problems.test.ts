import { describe, expect, it } from 'vitest'
import { findNodeProblem } from '../../../../controller/worker-pool/workers/node-problems.ts'

describe('the conditions of a node', () => {
  const nodeWith = (type: string, status: string) => ({
    metadata: { name: 'a' },
    status: {
      conditions: [
        { type: 'Ready', status: 'False' },
        { type, status, message: 'broken' },
      ],
    },
  })

  it.each([
    ['GpuMemWatch', 'True'],
    ['GpuUnhealthy', 'True'],
    ['GPUUnavailable', 'True'],
    ['XidError', 'True'],
    ['NvlinkDown', 'True'],
    ['DcgmError', 'True'],
    ['AcceleratedHardwareReady', 'False'],
    ['GPUHealthy', 'False'],
  ])('report a failing accelerator: %s=%s', (type, status) => {
    expect(findNodeProblem(nodeWith(type, status))).toEqual({ type, message: 'broken' })
    const opposite = status === 'True' ? 'False' : 'True'
    expect(findNodeProblem(nodeWith(type, opposite))).toBeNull()
    expect(findNodeProblem(nodeWith(type, 'Unknown'))).toBeNull()
  })

  it('of other parts do not count', () => {
    expect(findNodeProblem(nodeWith('MemoryPressure', 'True'))).toBeNull()
    expect(findNodeProblem(nodeWith('KernelDeadlock', 'True'))).toBeNull()
    expect(findNodeProblem(undefined)).toBeNull()
  })
})
