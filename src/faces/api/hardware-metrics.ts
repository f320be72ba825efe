/** Prometheus metrics of sensors, power and energy, which Metrics shows with its own. */

import type { HardwareSnapshot } from '#mining/mine/hardware.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import { Counter, Gauge, type Registry } from './prom-client.ts'

export class HardwareMetrics {
  readonly #registers: Registry[]
  readonly #temperature: Gauge
  readonly #fan: Gauge
  readonly #power: Gauge
  readonly #joules: Counter
  readonly #joulesPerHash: Gauge
  readonly #unread: Gauge
  #counted = 0

  constructor(registry: Registry) {
    this.#registers = [registry]
    this.#temperature = this.#ofDevice(
      'newcut_temperature_celsius',
      'Temperature of the processor (device `cpu`) or of a card. Absent if unknown.',
    )
    this.#fan = this.#ofDevice('newcut_fan_speed_ratio', 'Fan speed as a share of its maximum. Absent if unknown.')
    this.#power = this.#ofDevice('newcut_power_watts', 'Power draw. Absent if unknown.')
    this.#joules = new Counter({
      name: 'newcut_energy_joules_total',
      help: 'Energy over the time in which the power was read or stated. Absent if it never was.',
      registers: this.#registers,
    })
    // Without labels, it would begin at 0, which is a false figure.
    this.#joules.remove()
    this.#joulesPerHash = new Gauge({
      name: 'newcut_joules_per_hash',
      help: 'Energy of a hash at present, of the devices whose power is known. Absent if unknown.',
      registers: this.#registers,
    })
    this.#joulesPerHash.remove()
    this.#unread = new Gauge({
      name: 'newcut_energy_unread_devices',
      help: 'Searching devices, or rigs of a leader, whose power is unknown. Energy leaves them out.',
      registers: this.#registers,
    })
  }

  /** Shows the CPU as one device with all its threads. */
  show({ hardware, energy }: Pick<Snapshot, 'hardware' | 'energy'>): void {
    this.#showSensors(hardware)
    const { joules, joulesPerMegahash, unread } = energy
    if (joules !== null) {
      this.#joules.inc(Math.max(0, joules - this.#counted))
      this.#counted = joules
    }
    if (joulesPerMegahash === null) this.#joulesPerHash.remove()
    else this.#joulesPerHash.set(joulesPerMegahash / 1e6)
    this.#unread.set(unread)
  }

  #showSensors(hardware: readonly HardwareSnapshot[]): void {
    for (const metric of [this.#temperature, this.#fan, this.#power]) metric.reset()
    for (const { engine, name: device, celsius, fanPercent, watts } of hardware) {
      const labels = { engine, device }
      if (celsius !== null) this.#temperature.set(labels, celsius)
      if (fanPercent !== null) this.#fan.set(labels, fanPercent / 100)
      if (watts !== null) this.#power.set(labels, watts)
    }
  }

  #ofDevice(name: string, help: string): Gauge {
    return new Gauge({ name, help, labelNames: ['engine', 'device'], registers: this.#registers })
  }
}
