/** Draws the hashrates of the last two hours: the total as an area, a few devices as lines. */
import type uPlot from 'uplot'
import { element, write } from '../../kit/dom.ts'
import { dayAndTime, rateText } from '../../kit/numbers.ts'
import { drawnOf } from '../lines.ts'
import type { RateHistory } from '../state.ts'

/** The chart library, loaded by a separate script; absent if the browser could not run it. */
declare const window: { readonly uPlot?: typeof uPlot }

/** Minimum time span: a lone point in a wide chart says little. */
const LEAST_SECONDS = 300
/** Width of the axis labels. */
const AXIS_WIDTH = 62

interface Colours {
  readonly accent: string
  readonly area: string
  readonly soft: string
  readonly line: string
  readonly series: readonly string[]
}

/** The data of the chart: the history, then the current hashrates. */
export interface Charted {
  readonly history: RateHistory
  readonly nowMs: number
  readonly total: number | null
  readonly lines: Readonly<Record<string, number | null>>
}

export class Chart {
  readonly #host = element('chart')
  #plot: uPlot | null = null
  /** Names of the plotted lines. */
  #made = ''
  #shown: Charted | null = null

  constructor() {
    new ResizeObserver(() => this.#resize()).observe(this.#host)
    // A canvas ignores style sheets, so its colours are read at creation.
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
      this.#made = ''
      this.#drop()
      if (this.#shown !== null) this.show(this.#shown)
    })
  }

  show(charted: Charted): void {
    this.#shown = charted
    const { uPlot: Plot } = window
    if (Plot === undefined) {
      write(this.#host, 'This browser cannot draw the chart.')
      return
    }
    const names = drawnOf(Object.keys(charted.lines))
    if (this.#plot === null || this.#made !== names.join()) {
      this.#drop()
      this.#made = names.join()
      this.#plot = new Plot(this.#options(names), dataOf(charted, names), this.#host)
    } else this.#plot.setData(dataOf(charted, names))
    this.#describe(charted)
  }

  /** Whether no rate is known yet. */
  get #isEmpty(): boolean {
    const { history, total } = this.#shown ?? {}
    return total === null && history?.total.every((rate) => rate === null) === true
  }

  #drop(): void {
    this.#plot?.destroy()
    this.#plot = null
  }

  #resize(): void {
    const { clientWidth: width, clientHeight: height } = this.#host
    if (width > 0 && height > 0) this.#plot?.setSize({ width, height })
  }

  #options(names: readonly string[]): uPlot.Options {
    const { accent, area, soft, line, series } = coloursOf(document.documentElement)
    const font = '12px system-ui, sans-serif'
    const axis = { stroke: soft, font, ticks: { show: false }, grid: { stroke: line, width: 1 } }
    return {
      width: this.#host.clientWidth,
      height: this.#host.clientHeight,
      padding: [8, 8, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      scales: {
        // The library would show a day for a single time.
        x: { range: ({ data: [times] }) => spanOf(times) },
        y: { range: (_plot, _min, max) => [0, max > 0 ? max * 1.12 : 1] },
      },
      axes: [
        { ...axis, grid: { show: false }, size: 30, space: 80, values: (_plot, ticks) => ticks.map(timeOfDay) },
        {
          ...axis,
          size: AXIS_WIDTH,
          space: 44,
          values: (_plot, ticks) => ticks.map(this.#isEmpty ? noText : tickText),
        },
      ],
      series: [
        {},
        { label: 'all', stroke: accent, width: 2, fill: area, points: { show: false } },
        ...names.map((label, i) => {
          return { label, stroke: series[i % series.length], width: 1.25, points: { show: false } }
        }),
      ],
      hooks: { setCursor: [(plot) => this.#readOut(plot)] },
    }
  }

  /** Shows the values at the pointer's time. */
  #readOut(plot: uPlot): void {
    const { idx } = plot.cursor
    if (idx === null || idx === undefined || this.#shown === null) {
      write('chart-readout', '')
      return
    }
    const rates = plot.series.slice(1).map(({ label }, i) => {
      const text = rateText(plot.data[i + 1][idx] ?? null)
      return i === 0 ? text : `${String(label)} ${text}`
    })
    write('chart-readout', `${dayAndTime(plot.data[0][idx] * 1000, this.#shown.nowMs)}  ${rates.join('  ')}`)
  }

  /** Describes the chart in words. */
  #describe({ history: { atMs, total }, nowMs }: Charted): void {
    if (this.#plot?.cursor.idx == null) write('chart-readout', this.#isEmpty ? 'measuring' : '')
    const known = total.filter((rate) => rate !== null)
    const minutes = atMs.length === 0 ? 0 : Math.round((nowMs - atMs[0]) / 60_000)
    const span = known.length === 0 ? '' : `, ${rateText(Math.min(...known))} to ${rateText(Math.max(...known))}`
    this.#host.setAttribute('role', 'img')
    this.#host.setAttribute('aria-label', `hashrate of the last ${minutes} minutes${span}`)
  }
}

function dataOf({ history, nowMs, total, lines }: Charted, names: readonly string[]): uPlot.AlignedData {
  const past = names.map((name) => history.lines.find((line) => line.name === name)?.rates)
  const empty = history.atMs.map(() => null)
  return [
    [...history.atMs.map((ms) => ms / 1000), nowMs / 1000],
    [...history.total, total],
    ...names.map((name, i) => [...(past[i] ?? empty), lines[name] ?? null]),
  ]
}

function coloursOf(root: Element): Colours {
  const style = getComputedStyle(root)
  const read = (name: string) => style.getPropertyValue(`--${name}`).trim()
  const series = ['series-1', 'series-2', 'series-3', 'series-4', 'series-5', 'series-6'].map(read)
  return { accent: read('accent'), area: read('area'), soft: read('soft'), line: read('line'), series }
}

/** The first and the last time, at least the minimum span apart. */
function spanOf(times: ArrayLike<number>): [number, number] {
  const last = times[times.length - 1]
  return [Math.min(times[0], last - LEAST_SECONDS), last]
}

const noText = () => ''
const tickText = (rate: number) => (rate === 0 ? '0' : rateText(rate).replace(/\.0+(?=\D)|(\.\d*?)0+(?=\D)/, '$1'))
const timeOfDay = (seconds: number) => new Date(seconds * 1000).toTimeString().slice(0, 5)
