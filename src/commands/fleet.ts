/** `newcut fleet`: lists the rigs that the leader of a fleet knows, and sends orders to them. */
import { NoRespondersError, TimeoutError } from '@nats-io/transport-node'
import type { Config } from '#faces/cli/config.ts'
import type { fleetOptions } from '#faces/cli/options/lead.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import { NewcutError, operatingError } from '#ground/base/errors.ts'
import { printable } from '#ground/base/printable.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { formatHashrate } from '#ground/base/units.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { FleetLink } from '#mining/fleet/link.ts'
import { ListAnswer, MemberCommandAnswer, type MemberRow, type RelayStatistics } from '#mining/fleet/messages.ts'
import { commandErrors } from './input/errors.ts'
import { linkSetup } from './input/fleet-setup.ts'

type FleetConfig = Config<typeof fleetOptions>
type Print = (line: string) => void

const ANSWER_MS = 3_000

/**
 * `args`: list, pause or resume, then the rig or `all`.
 * @throws NewcutError
 */
export function runFleet(
  args: readonly string[],
  config: FleetConfig,
  { out, version, untilStopped }: CommandContext,
): Promise<number> {
  const print = printerTo(out)
  const { values } = config
  const [what = 'list', rig] = args
  checkArguments(what, rig)
  return untilStopped(async (stopped) => {
    const agent = `newcut/${version}`
    const options = { ...linkSetup(values, values.nats), agent, clock: systemClock, random: Math.random }
    const link = await FleetLink.open(options, null, stopped)
    try {
      if (what === 'list') await list(link, values.json, print)
      else {
        if (what === 'pause' && rig !== 'all') await checkConnected(link, rig)
        await sendCommand(link, { pause: what === 'pause', rig: rig === 'all' ? null : rig }, values.json, print)
      }
      return 0
    } catch (error) {
      throw error instanceof NewcutError ? error : noAnswerError(error, link, values['fleet-name'])
    } finally {
      await link.close()
    }
  })
}

function checkArguments(what: string, rig: string | undefined): void {
  if (what === 'list' && rig !== undefined) {
    throw operatingError(commandErrors.rigOfList, { rig })
  }
  if (what !== 'list' && rig === undefined) {
    throw operatingError(commandErrors.missingRig, { action: what })
  }
}

function noAnswerError(error: unknown, { url }: FleetLink, fleet: string): unknown {
  const nobody = [NoRespondersError, TimeoutError].some((kind) => error instanceof kind)
  // The NATS client wraps this error.
  const cause = (error as { readonly cause?: unknown }).cause
  const isNobody = nobody || cause instanceof NoRespondersError
  if (!isNobody) return error
  return operatingError(commandErrors.noLeader, { fleet, url }, error)
}

/**
 * A wrong name would stay with the fleet, and pause nothing.
 * @throws NewcutError BAD_INPUT if no such rig is connected
 */
async function checkConnected(link: FleetLink, rig: string | undefined): Promise<void> {
  if (rig === undefined) return
  const { rigs } = await requestList(link)
  const names = rigs.map(({ rig }) => rig)
  if (names.includes(rig)) return
  throw operatingError(commandErrors.noSuchRig, { rig, guess: suggestName(rig, names) })
}

/** The rows of all pages, in the order of their names, and the last page. */
async function requestList(link: FleetLink): Promise<{ readonly rigs: MemberRow[]; readonly answer: ListAnswer }> {
  const rigs: MemberRow[] = []
  let answer: ListAnswer
  let from: number | null = 0
  do {
    answer = await link.request(link.subjects.list, { from }, ListAnswer, ANSWER_MS)
    rigs.push(...answer.rigs)
    from = answer.next
  } while (from !== null)
  rigs.sort((a, b) => a.rig.localeCompare(b.rig, 'en', { numeric: true }))
  return { rigs, answer }
}

async function list(link: FleetLink, json: boolean, print: Print): Promise<void> {
  const { rigs, answer } = await requestList(link)
  if (json) {
    const { rigs: _, next, ...leader } = answer
    print(JSON.stringify({ ...leader, rigs }))
    return
  }
  for (const line of rigLines(rigs)) print(line)
  print(totalOf(answer, rigs))
}

async function sendCommand(
  link: FleetLink,
  what: { readonly pause: boolean; readonly rig: string | null },
  json: boolean,
  print: Print,
): Promise<void> {
  const answer = await link.request(link.subjects.order, what, MemberCommandAnswer, ANSWER_MS)
  const { rigs, problem } = answer
  if (problem !== null) throw operatingError(commandErrors.leaderRefusal, { problem })
  if (json) return print(JSON.stringify({ ...what, rigs }))
  const done = what.pause ? 'paused' : 'resumed'
  const whom = what.rig === null ? 'all rigs' : `rig ${what.rig}`
  const known = rigs === 0 ? 'none is connected now; it applies to rigs that connect later' : `${rigs} connected now`
  print(`${whom} ${done}: ${known}`)
}

/** The lines of the list, at most 80 columns wide for names of usual length. */
export function rigLines(rigs: readonly MemberRow[]): string[] {
  if (rigs.length === 0) return [NO_RIG]
  // Few rigs have hardware errors.
  const hasErrors = rigs.some(({ hardwareErrors = 0 }) => hardwareErrors > 0)
  const hasPower = rigs.some((rig) => wattsOf(rig) !== null)
  const rows = rigs.map((row) => {
    const { rig, state, rate, accepted, refused, hardwareErrors, version, reason, relay } = row
    return [
      rig,
      state,
      rate === null ? 'n/a' : formatHashrate(rate),
      ...(hasPower ? [powerText(wattsOf(row))] : []),
      `${accepted}/${refused}`,
      ...(hasErrors ? [String(hardwareErrors ?? 'n/a')] : []),
      version,
      [relay === undefined ? '' : relayText(relay), reasonText(reason, relay)].filter((text) => text !== '').join('; '),
    ]
  })
  const [power, errors] = [hasPower ? ['power'] : [], hasErrors ? ['errors'] : []]
  const table = [['rig', 'state', 'rate', ...power, 'blocks', ...errors, 'version', ''], ...rows]
  const isNumber = table[0].map((title) => ['rate', 'power', 'blocks', 'errors'].includes(title))
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)))
  return table.map((row) => {
    return row
      .map((cell, i) => (isNumber[i] ? cell.padStart(widths[i]) : cell.padEnd(widths[i])))
      .join('  ')
      .trimEnd()
  })
}

/** Power of all devices of a rig that search, or null if one of them cannot be read. */
function wattsOf({ energy }: MemberRow): number | null {
  return energy === undefined || energy.unread > 0 ? null : energy.watts
}

const powerText = (watts: number | null) => (watts === null ? 'n/a' : `${Math.round(watts)} W`)

/** The reason of a rig. A relay without rigs shows none: its count says so. */
function reasonText(reason: MemberRow['reason'], relay: RelayStatistics | undefined): string {
  return relay?.rigs === 0 && reason?.endsWith(NO_RIG) ? '' : printable(reason ?? '')
}

const NO_RIG = 'no rig is connected'

function relayText({ rigs, rate }: RelayStatistics): string {
  const count = `relay of ${rigs} ${rigs === 1 ? 'rig' : 'rigs'}`
  return rate === null ? count : `${count}, ${formatHashrate(rate)}`
}

function totalOf({ leader, version, network, account, allPaused }: ListAnswer, rigs: readonly MemberRow[]): string {
  const rate = formatHashrate(rigs.reduce((sum, rig) => sum + (rig.rate ?? 0), 0))
  const count = `${rigs.length} ${rigs.length === 1 ? 'rig' : 'rigs'}`
  const paused = allPaused ? ', all are paused' : ''
  return `${count}, ${rate}${paused}; led by ${leader} (newcut ${version}) on ${printable(network)}, paid: ${printable(account)}`
}
