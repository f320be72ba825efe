/** The console lines of each event. With time and label they fit in 80 columns, unless names are long. */

import { printable } from '#ground/base/printable.ts'
import { formatDuration, formatEfficiency, formatHashrate, withPrefix } from '#ground/base/units.ts'
import { type Verdict, verdicts } from '#ground/chain/solution.ts'
import { joulesPerMegahash } from '#mining/mine/energy.ts'
import type { MinerEvent, SolutionEvent } from '#mining/mine/events.ts'
import type { HardwareSnapshot, SensorValues } from '#mining/mine/hardware.ts'
import type { Pause } from '#mining/mine/pauses.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import type { ForkVote } from '#mining/source/source.ts'
import { energyTexts, powerText } from './energy-text.ts'
import { type ConsoleLine, countText, place, type Style } from './line.ts'
import { type BlockNotice, type ConsoleEvent, errorText } from './notices.ts'
import { moneyTexts, profitLines, rewardText } from './profit-lines.ts'
import { transactionLines } from './transaction-lines.ts'

/** The lines for an event. */
export function linesOf(event: ConsoleEvent): ConsoleLine[] {
  switch (event.type) {
    case 'work':
      return [{ label: 'work', style: 'cyan', text: `${place(event)}  ${difficultyText(event)}  ${reasonText(event)}` }]
    case 'ready':
      return [{ label: 'ready', style: 'bold', text: devicesText(event.devices) }]
    case 'idle':
      return [{ label: 'idle', style: 'yellow', text: 'no work for now' }]
    case 'paused':
      return [{ label: 'paused', style: 'yellow', text: pauseText(event) }]
    case 'resumed':
      return [{ label: 'resumed', style: 'green', text: 'searching the newest work again' }]
    case 'solution':
      return [event.verdict === null ? stepLine(event) : solutionLine(event, event.verdict)]
    case 'forkVote':
      return [{ label: 'vote', style: 'dim', text: voteText(event) }]
    case 'reward':
      return [{ label: 'reward', style: 'dim', text: `${place(event)}  ${rewardText(event)}` }]
    case 'profit':
      return profitLines(event.profit)
    case 'hardwareError': {
      const text = `${event.device} claimed nonce ${event.nonce}, which does not solve the work`
      return [{ label: 'hardware', style: 'red', text }]
    }
    case 'fleet':
      return [{ label: 'fleet', style: event.isLeading ? 'green' : 'yellow', text: fleetText(event) }]
    case 'warning':
      return [{ label: 'warning', style: 'yellow', text: event.message }]
    case 'detail':
      return [{ label: 'detail', style: 'dim', text: event.message }]
    case 'notice':
      return [{ label: 'notice', style: 'cyan', text: event.message }]
    case 'trouble':
      return [{ label: 'trouble', style: 'yellow', text: event.message }]
    case 'recovered':
      return [{ label: 'recovered', style: 'green', text: event.message }]
    case 'speed':
      return speedLines(event.snapshot)
    case 'configuration':
      return [{ label: 'changed', style: event.effect === 'now' ? 'green' : 'yellow', text: configurationText(event) }]
    case 'block':
      return [{ label: 'block', style: 'green', text: blockText(event) }]
    case 'transaction':
      return transactionLines(event)
    case 'refused':
      return [{ label: 'refused', style: 'yellow', text: `${place(event)}  ${event.reason}` }]
    case 'summary':
      return summaryLines(event.snapshot)
    case 'accounts':
      return [{ label: 'warning', style: 'yellow', text: event.warning }]
    case 'print':
      return [{ label: 'print', style: 'cyan', text: printText(event) }]
    case 'request':
      return [{ label: 'request', style: 'dim', text: requestText(event) }]
    case 'error':
      return [{ label: 'error', style: 'red', text: errorText(event) }]
    case 'banner':
      return []
  }
}

/** Texts that the console shows before the lines of an event, without time and label. */
export function plainTextsOf(event: ConsoleEvent): readonly string[] {
  if (event.type === 'banner') return event.lines
  if (event.type !== 'accounts') return []
  const accounts = event.accounts.map(({ account, secretKey }) => `  ${account} ${secretKey}`)
  return ['funded accounts, with coins on every chain, and their secret keys:', ...accounts, event.hint]
}

/** `chain 0  height 12  free.m:3  KEY: text`; a call has `local` or `preflight` for the height. */
function printText({ by, chain, height, requestKey, module, line, text }: Extract<ConsoleEvent, { type: 'print' }>) {
  const where = by === 'block' ? `height ${height}` : by
  return `chain ${chain}  ${where}  ${module ?? 'code'}:${line}  ${requestKey}: ${printable(text)}`
}

function requestText(request: Extract<ConsoleEvent, { type: 'request' }>): string {
  const { method, path, status, ms, bytes } = request
  return `${method} ${path}  ${status ?? 'no answer'}  ${ms} ms  ${bytes} bytes`
}

/** `configuration: threads 2 -> 1` */
function configurationText({ option, before, now, ...rest }: Extract<ConsoleEvent, { type: 'configuration' }>): string {
  const valueText = (value: unknown) => (value === null ? 'not set' : String(value))
  const start = `configuration: ${option}`
  if (rest.effect === 'none')
    return `${start}${now === null ? '' : ` ${String(now)}`} in the file has no effect: ${rest.reason}`
  const change =
    before === null && now === null ? `${start} changed` : `${start} ${valueText(before)} -> ${valueText(now)}`
  return rest.effect === 'now' ? change : `${change}, effective at the next start`
}

const pauseText = ({ by, text }: Pause) => (by === 'user' ? `mining is paused ${text}` : text)

/** `cpu: 2 x native-avx512` */
function devicesText(devices: Snapshot['devices']): string {
  const counts = new Map<string, number>()
  for (const { engine, kernel, note } of devices) {
    const key = `${engine}: ${kernel}${note === undefined ? '' : ` (${note})`}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return [...counts].map(([key, count]) => (count === 1 ? key : key.replace(': ', `: ${count} x `))).join(', ')
}

/** Only a miner's block needed a search, so only that one shows a difficulty. */
function blockText(event: BlockNotice): string {
  const { by, transactions: count } = event
  const texts = [place(event)]
  if (by === 'miner') texts.push(difficultyText(event))
  if (count > 0) texts.push(countText(count, 'transaction'))
  return texts.join('  ').trimEnd()
}

const difficultyText = ({ difficulty }: { difficulty: number }) => `difficulty ${withPrefix(difficulty)}`

const reasons: Readonly<Record<Extract<MinerEvent, { type: 'work' }>['reason'], string>> = {
  newCut: 'new cut',
  solved: 'solved',
  start: 'first work',
  refreshed: 'refreshed',
  reconnected: 'newer',
  switched: 'other node',
  better: 'worth more',
  chosen: 'other chains',
}

/** The reason for new work, and the time until all devices searched it. */
function reasonText({ reason, preemptMs }: Extract<MinerEvent, { type: 'work' }>): string {
  return reason === 'refreshed' ? reasons.refreshed : `${reasons[reason]}, ${formatDuration(preemptMs)}`
}

export const verdictStyles: Readonly<Record<Verdict, Style>> = {
  accepted: 'green',
  unconfirmed: 'yellow',
  stale: 'yellow',
  orphaned: 'yellow',
  rejected: 'red',
  lost: 'red',
}

/** The line of a step without a verdict. */
function stepLine(event: SolutionEvent): ConsoleLine {
  const depth = event.step === 'confirmed' ? ` at depth ${event.depth}` : ''
  const parts = [place(event), event.device, event.step + depth, formatDuration(event.elapsedMs)]
  return { label: 'solution', style: 'dim', text: parts.join('  ') }
}

function solutionLine(event: SolutionEvent, verdict: Verdict): ConsoleLine {
  const { accepted, stale, orphaned, rejected, lost } = event.counts
  const parts = [
    place(event),
    event.device,
    `effort ${percent(event.effort)}`,
    verdict === 'stale' && event.lateMs !== null
      ? `late by ${formatDuration(event.lateMs)}`
      : formatDuration(event.elapsedMs),
    `(${accepted}/${stale + orphaned}/${rejected + lost})`,
  ]
  if (event.isPoolBlock) parts.push('a block')
  if (event.step === 'rejected' || event.step === 'lost') parts.push(`${event.reason}: ${event.message}`)
  if (event.step === 'unconfirmed') parts.push(event.message)
  return { label: verdict, style: verdictStyles[verdict], text: parts.join('  ') }
}

export const percent = (share: number) => `${Math.round(share * 100)}%`

export function ratesText({ hashrates }: Pick<Snapshot, 'hashrates'>): string {
  return Object.entries(hashrates)
    .map(([window, rate]) => `${window} ${formatHashrate(rate)}`)
    .join('  ')
}

/** `12 accepted  1 stale`: counts of 0 are left out, except for accepted blocks. */
export function countsText({ solutions }: Pick<Snapshot, 'solutions'>): string {
  return verdicts
    .filter((verdict) => solutions[verdict] > 0 || verdict === 'accepted')
    .map((verdict) => `${solutions[verdict]} ${verdict}`)
    .join('  ')
}

function speedLines(snapshot: Snapshot): ConsoleLine[] {
  const { hardware, highestHashrate } = snapshot
  const rates = `${ratesText(snapshot)}  max ${formatHashrate(highestHashrate)}`
  const devices = hardware.length > 1 ? deviceLines(hardware, deviceText) : []
  // The power of the miner may be stated, and that of a single device is the same otherwise.
  const warm = hardware.length === 1 ? sensorsText({ ...hardware[0], watts: null }) : ''
  const counts = [countsText(snapshot), warm, powerText(snapshot.energy)].filter((text) => text !== '').join('  ')
  return [{ label: 'speed', style: 'bold', text: rates }, dimLine(counts), ...devices]
}

/** Maximum devices with their own line: there may be hundreds of rigs. */
const MAX_DEVICE_LINES = 16

function deviceLines(hardware: readonly HardwareSnapshot[], textOf: (each: HardwareSnapshot) => string): ConsoleLine[] {
  const lines = hardware.slice(0, MAX_DEVICE_LINES).map((each) => dimLine(textOf(each)))
  const others = hardware.length - lines.length
  return others > 0 ? [...lines, dimLine(`and ${others} more devices`)] : lines
}

const dimLine = (text: string): ConsoleLine => ({ label: '', style: 'dim', text })

/** `gpu0  1.17 GH/s  61 C  212 W` */
export function hardwareText(hardware: HardwareSnapshot, rate: number | null): string {
  const warm = sensorsText(hardware)
  return `${hardware.name.padEnd(6)}  ${formatHashrate(rate)}${warm === '' ? '' : `  ${warm}`}`
}

/** `gpu0  1.17 GH/s  61 C  212 W  0.181 J/MH`: a device at present. */
export function deviceText(hardware: HardwareSnapshot): string {
  const { hashrates, watts } = hardware
  const efficiency = joulesPerMegahash(watts, hashrates['10s'])
  return `${hardwareText(hardware, hashrates['10s'])}${efficiency === null ? '' : `  ${formatEfficiency(efficiency)}`}`
}

/** `61 C  fan 40%  212 W`, or an empty text if no sensor is known. */
function sensorsText({ celsius, fanPercent, watts }: SensorValues): string {
  return [
    ...(celsius === null ? [] : [`${Math.round(celsius)} C`]),
    ...(fanPercent === null ? [] : [`fan ${Math.round(fanPercent)}%`]),
    ...(watts === null ? [] : [`${Math.round(watts)} W`]),
  ].join('  ')
}

function summaryLines(snapshot: Snapshot): ConsoleLine[] {
  const { hashes, uptimeMs, meanHashrate, preemptions, hardwareErrors } = snapshot
  const time = formatDuration(uptimeMs)
  const work = `${withPrefix(hashes)} hashes in ${time}, ${formatHashrate(meanHashrate)} on average`
  const lines: ConsoleLine[] = [
    { label: 'summary', style: 'bold', text: countsText(snapshot) },
    dimLine(`${work}, ${preemptions} preempted`),
    ...meanLines(snapshot),
    dimLine(luckText(snapshot)),
    ...(snapshot.forkVote === null ? [] : [dimLine(voteText(snapshot.forkVote))]),
    ...poolBlocksTexts(snapshot).map(dimLine),
    ...(snapshot.energy.joules === null ? [] : [dimLine(energyTexts(snapshot.energy)[0])]),
    ...moneyTexts(snapshot).map(dimLine),
  ]
  if (hardwareErrors > 0) lines.push({ label: '', style: 'red', text: `${hardwareErrors} hardware errors` })
  return lines
}

/** The mean hashrate of each device, if there are several. */
function meanLines({ hardware, uptimeMs }: Snapshot): ConsoleLine[] {
  if (hardware.length < 2 || uptimeMs === 0) return []
  return deviceLines(hardware, (each) => `${hardwareText(each, (each.hashes * 1000) / uptimeMs)} on average`)
}

/** `5 found, 4.2 expected, luck 119%, best 81.2M on chain 3` */
export function luckText({ results: { found, expected, best } }: Snapshot): string {
  const parts = [`${found} found`, `${expectationText(expected)} expected`]
  if (found > 0 && expected > 0) parts.push(`luck ${percent(found / expected)}`)
  if (best.length > 0) parts.push(`best ${withPrefix(best[0].difficulty)} on chain ${best[0].chain}`)
  return parts.join(', ')
}

/** The vote of the miner's work, for people. */
export function voteText({ fork, isFor }: ForkVote): string {
  return isFor ? `votes for fork ${fork}` : `does not vote for fork ${fork}`
}

/** The shares that are blocks of a pool; no text if there are none. */
export function poolBlocksTexts({ poolBlocks }: Pick<Snapshot, 'poolBlocks'>): string[] {
  if (poolBlocks === 0) return []
  return [poolBlocks === 1 ? '1 share is a block of the pool' : `${poolBlocks} shares are blocks of the pool`]
}

const expectationText = (expected: number) => (expected < 0.01 && expected > 0 ? '<0.01' : withPrefix(expected))

function fleetText({ isLeading, leader }: Extract<MinerEvent, { readonly type: 'fleet' }>): string {
  if (isLeading) return 'this process is the leader: rigs get their work from it'
  return leader === null ? 'this process is not the leader now' : `${leader} is the leader; this process stands by`
}
