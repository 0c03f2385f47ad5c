import type { Point } from './plane.ts'

export function add(a: Point, b: Point): Point {
  return { x: a.x + b.x, y: a.y + b.y }
}

export function subtract(a: Point, b: Point): Point {
  return { x: a.x - b.x, y: a.y - b.y }
}

/** The point at distance `length` from `from` along `direction`. */
export function move(from: Point, direction: Point, length: number): Point {
  return { x: from.x + direction.x * length, y: from.y + direction.y * length }
}

/** The point at `share` of the distance from `a` (0) to `b` (1). */
export function between(a: Point, b: Point, share: number): Point {
  return { x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share }
}

export function scale(a: Point, by: number): Point {
  return { x: a.x * by, y: a.y * by }
}

export function dot(a: Point, b: Point): number {
  return a.x * b.x + a.y * b.y
}

/** The length of a vector. `Math.hypot`, which also prevents overflow, takes ten times as long in V8. */
export function norm(x: number, y: number, z = 0): number {
  return Math.sqrt(x * x + y * y + z * z)
}

export function distance(a: Point, b: Point): number {
  return norm(a.x - b.x, a.y - b.y)
}

/** The vector scaled to length 1; a zero vector is unchanged. */
export function unit(a: Point): Point {
  return scale(a, 1 / Math.max(1e-6, norm(a.x, a.y)))
}

/** The vector rotated by 90° so that right becomes down (y grows downwards). */
export function perpendicular(a: Point): Point {
  return { x: -a.y, y: a.x }
}

/** Maps a point to another size of the same bitmap; `scale` is the new size over the old one. */
export function pointAtSize({ x, y }: Point, scale: Readonly<Point>): Point {
  return { x: (x + 0.5) * scale.x - 0.5, y: (y + 0.5) * scale.y - 0.5 }
}
