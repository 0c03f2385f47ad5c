import { DrapeError } from '../../../api/shared/contract/errors.ts'
import { dot, subtract } from '../raster/vector.ts'
import { type BodyKeypoints, bothSides } from './keypoints.ts'
import { SEATED_KNEES } from './tuning.ts'

/** Whether the thighs point at the camera or to the side: the thighs are then in front of anything that hangs from the waist. */
export function isSeated({ joints, down, trunk }: Pick<BodyKeypoints, 'joints' | 'down' | 'trunk'>): boolean {
  const drops = bothSides((side) => dot(subtract(joints.knee[side], joints.hip[side]), down))
  return Math.max(...drops) < SEATED_KNEES * trunk
}

/** The error for garments that need a standing person. */
export function notStanding(): DrapeError {
  return new DrapeError(
    'RESULT_REJECTED',
    'The person is not standing; trousers, skirts and dresses can only be shown on standing people',
    { image: 'person' },
  )
}
