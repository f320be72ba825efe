/** The answers to the keys of a running miner. */
import { formatDuration, formatHashrate, withPrefix } from '#ground/base/units.ts'
import type { Snapshot } from '#mining/mine/snapshot.ts'
import type { UpstreamStatus } from '#mining/source/source.ts'
import { energyTexts } from './energy-text.ts'
import { type Key, keysText } from './keys.ts'
import type { ConsoleLine } from './line.ts'
import { countsText, deviceText, hardwareText, luckText, percent, poolBlocksTexts, ratesText } from './lines.ts'
import { moneyAnswer } from './profit-lines.ts'

/** The lines for keys that only show something. */
export function answerOf(key: Exclude<Key, 'p' | 'r' | 'q'>, snapshot: Snapshot): ConsoleLine[] {
  switch (key) {
    case 'h':
      return hashrateLines(snapshot)
    case 's':
      return resultLines(snapshot)
    case 'c':
      return connectionLines(snapshot)
    case 'e':
      return healthLines(snapshot)
    case 'm':
      return withTitle('money', moneyAnswer(snapshot))
    case '?':
      return withTitle('keys', [keysText])
  }
}

/** The first line has the label; the others follow below it. */
function withTitle(label: string, texts: readonly string[]): ConsoleLine[] {
  return texts.map((text, index) => ({ label: index === 0 ? label : '', style: 'bold', text }))
}

function hashrateLines(snapshot: Snapshot): ConsoleLine[] {
  const { hardware, meanHashrate, highestHashrate, uptimeMs } = snapshot
  const devices = hardware.flatMap((each) => [
    hardwareText(each, each.hashrates['10s']),
    `        60s ${formatHashrate(each.hashrates['60s'])}  15m ${formatHashrate(each.hashrates['15m'])}  max ${formatHashrate(each.hashrates.highest)}`,
  ])
  return withTitle('hashrate', [
    `${ratesText(snapshot)}  max ${formatHashrate(highestHashrate)}`,
    `${formatHashrate(meanHashrate)} on average in ${formatDuration(uptimeMs)}`,
    ...devices,
  ])
}

function resultLines(snapshot: Snapshot): ConsoleLine[] {
  const { results, work } = snapshot
  const best = results.best.map(({ difficulty, chain, height, device }, index) => {
    const place = `chain ${String(chain).padEnd(2)} height ${height}`
    return `${String(index + 1).padStart(2)}. ${withPrefix(difficulty).padEnd(5)}  ${place}  ${device}`
  })
  return withTitle('results', [
    countsText(snapshot),
    luckText(snapshot),
    ...poolBlocksTexts(snapshot),
    `effort ${percent(results.effort)} since the last one${work === null ? '' : `, at difficulty ${withPrefix(work.difficulty)}`}`,
    ...best,
  ])
}

function connectionLines({ nodes, issuer, source, connected, work }: Snapshot): ConsoleLine[] {
  const news = connected ? 'updates arrive' : 'no updates now'
  const current =
    work === null
      ? 'no work'
      : `chain ${work.chain} height ${work.height}, difficulty ${withPrefix(work.difficulty)}, for ${formatDuration(work.ageMs)}`
  return withTitle('node', [
    source,
    `${news}; work from ${issuer ?? 'no node yet'}`,
    current,
    ...nodes.map((node) => nodeText(node)),
  ])
}

function nodeText({ url, up, active, latencyMs, lag, problem }: UpstreamStatus): string {
  const parts = [`${active ? '*' : ' '} ${url}`, up ? 'up' : 'down']
  if (latencyMs !== null) parts.push(formatDuration(latencyMs))
  if (lag !== null) parts.push(`lag ${Number(lag.toFixed(1))}`)
  if (problem !== null) parts.push(problem)
  return parts.join('  ')
}

function healthLines({ devices, idleReason, pauses, hardwareErrors, hardware, energy }: Snapshot): ConsoleLine[] {
  const searching = devices.filter(({ state }) => state === undefined).length
  const faults = devices.reduce((sum, device) => sum + device.faults, 0)
  const paused = pauses.map(({ text }) => `paused ${text}`).join('; ')
  const state = paused || (idleReason ?? `${searching} of ${devices.length} devices search`)
  const down = devices.flatMap(({ device, state: is, reason }) =>
    is === undefined ? [] : [`${device} is ${is}${reason === undefined ? '' : `: ${reason}`}`],
  )
  return withTitle('health', [
    state,
    `${hardwareErrors} hardware errors, ${faults} restarts of devices`,
    ...hardware.map(deviceText),
    ...energyTexts(energy),
    ...down,
  ])
}
