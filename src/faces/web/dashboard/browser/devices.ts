/** Shows each device with its hashrate, a sparkline of the last hour, and its sensors. */
import { draw, element, fill, make, write } from '../../kit/dom.ts'
import { rateText } from '../../kit/numbers.ts'
import { devicesByLine, drawnOf, sumOfRates } from '../lines.ts'
import type { HardwareSnapshot, RateHistory, Snapshot } from '../state.ts'

type DeviceRow = Snapshot['devices'][number]
type Shown = Pick<Snapshot, 'devices' | 'hardware'>

/** A row: a device, or all devices of an engine. */
interface Row {
  readonly key: string
  readonly name: string
  readonly devices: readonly DeviceRow[]
  /** Name of its line in the history, or null. */
  readonly line: string | null
  /** Colour index of its line in the chart, or 0 without a line. */
  readonly colour: number
}

/** Further facts about devices. */
interface KnownEntity {
  readonly history: RateHistory
  readonly hardware: readonly HardwareSnapshot[]
}

/** Samples of one hour. */
const SPARK_SAMPLES = 360
const [WIDTH, HEIGHT] = [120, 28]

export class DeviceList {
  readonly #button = element<HTMLButtonElement>('more-devices')
  #showsAll = false
  #last: readonly [Shown, RateHistory] | null = null

  constructor() {
    this.#button.addEventListener('click', () => {
      this.#showsAll = !this.#showsAll
      if (this.#last !== null) this.show(...this.#last)
    })
  }

  show(shown: Shown, history: RateHistory): void {
    this.#last = [shown, history]
    const { devices, hardware } = shown
    const grouped = devicesByLine(devices)
    const drawn = drawnOf([...grouped.keys()])
    const groups = [...grouped].map(([name, group]): Row => {
      return { key: `line ${name}`, name, devices: group, line: name, colour: drawn.indexOf(name) + 1 }
    })
    const single = devices.map((device): Row => {
      const name = device.device
      return { key: `${device.engine}/${name}`, name, devices: [device], line: null, colour: 0 }
    })
    const isGrouped = withoutRigs(groups).length < withoutRigs(single).length
    this.#button.hidden = !isGrouped
    this.#button.setAttribute('aria-expanded', String(this.#showsAll))
    write(this.#button, this.#showsAll ? 'Show as groups' : `Show all ${withoutRigs(single).length}`)
    fill(
      element('devices'),
      withoutRigs(isGrouped && this.#showsAll ? single : groups),
      ({ key }) => key,
      makeItem,
      (item, row) => update(item, row, { history, hardware }),
    )
  }
}

/** The table of rigs has a row for each of them, so the devices have one for all. */
function withoutRigs(rows: readonly Row[]): Row[] {
  const isOfRigs = ({ devices: [first] }: Row) => first.engine === 'rigs'
  const rigs = rows.filter(isOfRigs).flatMap(({ devices }) => devices)
  const others = rows.filter((row) => !isOfRigs(row))
  const all: Row = { key: 'rigs', name: 'rigs', devices: rigs, line: null, colour: 0 }
  return rigs.length === 0 ? others : [...others, all]
}

function makeItem(): HTMLLIElement {
  const names = make('p', {}, make('b'), make('span', { class: 'soft' }))
  const spark = draw('svg', { class: 'spark', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: 'none' })
  spark.setAttribute('aria-hidden', 'true')
  spark.append(draw('path', { class: 'fill' }), draw('path', { class: 'stroke' }))
  return make('li', {}, names, spark, make('output'), make('small'))
}

function update(item: HTMLLIElement, { name, devices, line, colour }: Row, { history, hardware }: KnownEntity): void {
  const [names, spark, rate, note] = item.children
  const [first] = devices
  const kinds = [...new Set(devices.map(({ kernel }) => kernel))].join(', ')
  write(names.children[0], name)
  write(names.children[1], devices.length > 1 ? `${devices.length} × ${kinds}` : kinds)
  write(rate, rateText(sumOfRates(devices)))
  const unable = devices.filter(({ state }) => state !== undefined)
  // The table of rigs says which ones are gone.
  const stopped = first.engine === 'rigs' && unable.length < devices.length ? [] : unable
  // A server that waits for its first rig is not in trouble.
  const isWaiting = first.engine === 'rigs' && devices.every(({ hashes }) => hashes === 0)
  item.toggleAttribute('data-stopped', stopped.length > 0 && !isWaiting)
  const parts = [
    isWaiting ? (stopped[0]?.reason ?? '') : stoppedText(stopped, devices.length),
    // Threads share a CPU, so its sensors stand with the first.
    ...hardware.flatMap((each) => (each.devices[0] === first.device ? sensorTexts(each) : [])),
    faultsText(devices),
    first.note ?? '',
  ]
  write(note, parts.filter((part) => part !== '').join(' · '))
  item.dataset.colour = String(colour)
  const rates = history.lines.find((each) => each.name === line)?.rates.slice(-SPARK_SAMPLES) ?? []
  spark.toggleAttribute('hidden', line === null)
  drawSpark(spark, rates)
}

function stoppedText(stopped: readonly DeviceRow[], of: number): string {
  const [first] = stopped
  if (first === undefined) return ''
  const reason = first.reason === undefined ? '' : `: ${first.reason}`
  return `${of > 1 ? `${stopped.length} of ${of} ` : ''}${first.state}${reason}`
}

function sensorTexts({ celsius, fanPercent, watts }: HardwareSnapshot): string[] {
  const part = (value: number | null, unit: string) => (value === null ? [] : [`${Math.round(value)}${unit}`])
  return [...part(celsius, ' °C'), ...part(watts, ' W'), ...part(fanPercent, ' % fan')]
}

function faultsText(devices: readonly DeviceRow[]): string {
  const faults = devices.reduce((sum, each) => sum + each.faults, 0)
  return faults === 0 ? '' : `${faults} ${faults === 1 ? 'fault' : 'faults'}`
}

/** The scale starts at zero, so that small fluctuations look small. */
function drawSpark(spark: Element, rates: readonly (number | null)[]): void {
  const known = rates.filter((rate) => rate !== null)
  const most = Math.max(...known, 0)
  const [area, stroke] = spark.children
  if (known.length < 2 || most === 0) {
    for (const path of [area, stroke]) path.setAttribute('d', '')
    return
  }
  const x = (i: number) => ((i / (rates.length - 1)) * WIDTH).toFixed(1)
  const y = (rate: number) => (HEIGHT - 2 - (rate / most) * (HEIGHT - 5)).toFixed(1)
  let path = ''
  let isDown = false
  for (const [i, rate] of rates.entries()) {
    if (rate !== null) path += `${isDown ? 'L' : 'M'}${x(i)} ${y(rate)}`
    isDown = rate !== null
  }
  stroke.setAttribute('d', path)
  const first = rates.findIndex((rate) => rate !== null)
  area.setAttribute('d', rates.slice(first).includes(null) ? '' : `${path}V${HEIGHT}H${x(first)}Z`)
}
