import type { Moment } from '../../controller/worker-pool/simulate.ts'

const WIDTH = 960
const HEIGHT = 480
const LEFT = 56
const RIGHT = 16
/** More points than pixels add no detail. */
const POINTS = 880

interface Line {
  readonly name: string
  readonly colour: string
  readonly of: (moment: Moment) => number
}

interface Panel {
  readonly top: number
  readonly bottom: number
  readonly lines: readonly Line[]
}

const PANELS: readonly Panel[] = [
  {
    top: 32,
    bottom: 232,
    lines: [
      { name: 'waiting jobs', colour: '#c2410c', of: ({ waiting }) => waiting },
      { name: 'running jobs', colour: '#64748b', of: ({ running }) => running },
    ],
  },
  {
    top: 272,
    bottom: 448,
    lines: [
      { name: 'workers', colour: '#1d4ed8', of: ({ workers }) => workers },
      { name: 'wanted', colour: '#0f766e', of: ({ desired }) => desired },
    ],
  },
]

/** Plots jobs, and below them workers, over time as an SVG image. */
export function plotSimulation(moments: readonly Moment[]): string {
  const minutes = Math.round(moments.length / 60)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    ...PANELS.flatMap((panel) => drawPanel(panel, moments)),
    text(WIDTH - 100, HEIGHT - 10, `${minutes} minutes`),
    '</svg>',
    '',
  ].join('\n')
}

function drawPanel({ top, bottom, lines }: Panel, moments: readonly Moment[]): string[] {
  const points = lines.map(({ of }) => peaks(moments, of))
  const most = Math.max(1, ...points.flat())
  const x = (i: number, count: number) => LEFT + (i / Math.max(1, count - 1)) * (WIDTH - LEFT - RIGHT)
  const y = (value: number) => bottom - (value / most) * (bottom - top)
  const path = (values: readonly number[]) =>
    values.map((value, i) => `${x(i, values.length).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
  return [
    `<path d="M${LEFT} ${top}V${bottom}H${WIDTH - RIGHT}" fill="none" stroke="#94a3b8"/>`,
    text(8, top + 5, String(most)),
    text(8, bottom + 4, '0'),
    ...lines.map(({ name, colour }, i) => text(LEFT + 12 + i * 120, top - 10, name, colour)),
    ...lines.map(
      ({ colour }, i) => `<polyline points="${path(points[i])}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
    ),
  ]
}

/** The maximum of the seconds that share a point, so that peaks remain visible. */
function peaks(moments: readonly Moment[], of: (moment: Moment) => number): number[] {
  const every = Math.max(1, Math.ceil(moments.length / POINTS))
  return Array.from({ length: Math.ceil(moments.length / every) }, (_, i) =>
    Math.max(...moments.slice(i * every, (i + 1) * every).map(of)),
  )
}

function text(left: number, top: number, words: string, fill = '#334155'): string {
  return `<text x="${left}" y="${top}" fill="${fill}">${words}</text>`
}
