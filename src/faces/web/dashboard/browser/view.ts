/** Writes the state into the page: numbers here, charts and lists in their own modules. */
import { verdicts } from '#ground/chain/solution.ts'
import { element, write } from '../../kit/dom.ts'
import {
  ageText,
  difficultyText,
  groupDigits,
  NONE,
  rateParts,
  rateText,
  spanText,
  uptimeText,
} from '../../kit/numbers.ts'
import { ratesOf } from '../lines.ts'
import type { DashboardState, Snapshot } from '../state.ts'
import { BlockTable } from './blocks.ts'
import { CompactBraid } from './braid.ts'
import { ChainTable } from './chains.ts'
import { Chart } from './chart.ts'
import { ControlPanel } from './control.ts'
import { DeviceList } from './devices.ts'
import { showEnergy } from './energy.ts'
import { MoneyPanel } from './money.ts'
import { NodeList } from './nodes.ts'
import { RigList } from './rigs.ts'

export class DashboardView {
  readonly #chart = new Chart()
  readonly #braid = new CompactBraid()
  readonly #chains = new ChainTable()
  readonly #devices = new DeviceList()
  readonly #blocks = new BlockTable()
  readonly #nodes = new NodeList()
  readonly #rigs = new RigList()
  readonly #money = new MoneyPanel()
  readonly #control = new ControlPanel()

  show({ about, nowMs, summary, history, blocks }: DashboardState): void {
    const { devices, hashrates, work, chains = [] } = summary
    this.#phase(summary)
    this.#rates(summary)
    this.#counts(summary)
    this.#work(summary)
    this.#chart.show({ history, nowMs, total: hashrates['10s'], lines: ratesOf(devices) })
    this.#devices.show(summary, history)
    showEnergy(summary.energy)
    for (const figure of document.querySelectorAll<HTMLElement>('figure.braid')) figure.hidden = chains.length === 0
    if (chains.length > 0) this.#braid.show(chains, work, blocks)
    this.#chains.show(chains, work?.chain ?? null)
    this.#blocks.show(blocks, nowMs)
    this.#nodes.show(summary)
    this.#rigs.show(summary.rigs)
    this.#money.show(summary)
    this.#control.show(summary)
    write('network', about.network)
    write('account', about.account)
    write('footer', `newcut ${about.version} · up ${uptimeText(summary.uptimeMs)}`)
  }

  /** Marks the miner as unreachable; the page keeps the last state. */
  showLost(): void {
    document.body.dataset.phase = 'away'
    write('phase', 'no connection to the miner')
    document.title = 'newcut'
  }

  #phase(snapshot: Snapshot): void {
    const { phase, text } = phaseOf(snapshot)
    document.body.dataset.phase = phase
    write('phase', text)
    element('phase').title = snapshot.idleReason ?? ''
  }

  #rates({ hashrates, meanHashrate, work }: Snapshot): void {
    // Before the first 10 s are over, use the mean since the start.
    const rate = hashrates['10s'] ?? meanHashrate
    const [number, unit] = rateParts(rate)
    write('rate', number)
    write('rate-unit', unit)
    write('rate-60s', rateText(hashrates['60s']))
    write('rate-15m', rateText(hashrates['15m']))
    write('rate-mean', rateText(meanHashrate))
    const isKnown = work !== null && rate > 0 && work.difficulty > 0
    write('pace', isKnown ? `about one block every ${spanText((work.difficulty / rate) * 1000)}` : '\u00a0')
    document.title = `${rateText(rate)} · newcut`
  }

  #counts({ solutions, hardwareErrors }: Snapshot): void {
    for (const verdict of verdicts) show(verdict, solutions[verdict])
    show('hardware', hardwareErrors)
  }

  #work({ work, preemptions, results }: Snapshot): void {
    write('work-chain', work === null ? NONE : String(work.chain))
    write('work-height', work === null ? NONE : groupDigits(work.height))
    write('work-difficulty', difficultyText(work?.difficulty ?? null))
    write('work-age', work === null ? NONE : ageText(work.ageMs))
    write('preemptions', groupDigits(preemptions))
    write('effort', `${Math.round(results.effort * 100)} %`)
  }
}

/** The phase of the miner, which the style sheet colours, and its text. */
function phaseOf({ pauses, idleReason, waitReason, work, connected }: Snapshot) {
  const pause = pauses.at(0)
  if (pause !== undefined) return { phase: 'paused', text: pause.by === 'user' ? 'paused' : `paused ${pause.text}` }
  if (idleReason !== null) return { phase: 'failed', text: 'nothing searches' }
  if (work === null) return { phase: 'waiting', text: waitReason === undefined ? 'no work' : `waits ${waitReason}` }
  return { phase: 'mining', text: connected ? 'mining' : 'mining, update stream closed' }
}

/** Shows a count, and hides it if it is 0. */
function show(id: string, count: number): void {
  write(id, groupDigits(count))
  element(id).parentElement?.toggleAttribute('data-zero', count === 0)
}
