import { Failure } from './failure.ts'
import { element } from './markup.ts'

/** Whether pages may ask for the camera: not without TLS, and not where a Permissions-Policy forbids it. */
export function hasLiveCamera(): boolean {
  const { featurePolicy } = document as Document & { featurePolicy?: { allowsFeature(name: string): boolean } }
  return Boolean(navigator.mediaDevices?.getUserMedia) && featurePolicy?.allowsFeature('camera') !== false
}

/** Whether the device has a camera. Browsers answer this without permission. */
export async function isCameraPresent(): Promise<boolean> {
  if (!hasLiveCamera()) return false
  const devices = await navigator.mediaDevices.enumerateDevices().catch(() => [])
  return devices.some(({ kind }) => kind === 'videoinput')
}

const REASONS: Readonly<Record<string, string>> = {
  NotAllowedError: 'CAMERA_DENIED',
  NotFoundError: 'CAMERA_MISSING',
  OverconstrainedError: 'CAMERA_MISSING',
}
const SIDE = { ideal: 1920 }

/** The moving image of the camera. Throws a `Failure`. */
export async function openCamera(): Promise<HTMLVideoElement> {
  const video = element('video', { playsinline: true })
  video.muted = true
  try {
    video.srcObject = await navigator.mediaDevices.getUserMedia({
      audio: false,
      video: { facingMode: 'user', width: SIDE, height: SIDE },
    })
    await video.play()
    return video
  } catch (error) {
    closeCamera(video)
    throw new Failure(REASONS[(error as Error).name] ?? 'CAMERA_FAILED')
  }
}

export function closeCamera(video: HTMLVideoElement | null): void {
  for (const track of tracksOf(video)) track.stop()
  if (video) video.srcObject = null
}

/** Calls when the camera was unplugged, or its permission withdrawn. */
export function watchCamera(video: HTMLVideoElement, onEnd: () => void): void {
  for (const track of tracksOf(video)) track.addEventListener('ended', onEnd)
}

function tracksOf(video: HTMLVideoElement | null): MediaStreamTrack[] {
  return video?.srcObject instanceof MediaStream ? video.srcObject.getTracks() : []
}

/** The current frame as a JPEG, not mirrored. */
export async function takePhoto(video: HTMLVideoElement): Promise<Blob> {
  const canvas = element('canvas', { width: video.videoWidth, height: video.videoHeight })
  canvas.getContext('2d')?.drawImage(video, 0, 0)
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', 0.92))
  if (blob === null) throw new Failure('CAMERA_FAILED')
  return blob
}
