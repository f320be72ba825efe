/** `newcut rigs check`: checks how the rigs of each maker would work with a stratum server, ours or another. */

import type { rigsCheckOptions } from '#faces/cli/options/conformance.ts'
import type { Values } from '#faces/cli/options/row.ts'
import { type CommandContext, printerTo } from '#faces/cli/terminal.ts'
import type { Clock } from '#ground/base/clock.ts'
import { NewcutError } from '#ground/base/errors.ts'
import { systemClock } from '#ground/platform/clock.ts'
import { acrossMakers, type ObservedConnection } from '#pool/stratum-check/across.ts'
import { createFinding, type Finding } from '#pool/stratum-check/findings.ts'
import { judge } from '#pool/stratum-check/judge.ts'
import { type Manufacturer, makers, type RigLogin } from '#pool/stratum-check/makers.ts'
import { connectTo, readServerAddress, type ServerAddress } from '#pool/stratum-check/reach.ts'
import { recordTranscript } from '#pool/stratum-check/recorder.ts'
import type { Transcript } from '#pool/stratum-check/transcript.ts'
import { checkLines, type RigsCheckReport, shareTimes } from './results/rigs-check-lines.ts'

type RigsCheckValues = Values<typeof rigsCheckOptions>

interface CheckPlan {
  readonly address: ServerAddress
  readonly account: RigLogin
  readonly makers: readonly Manufacturer[]
  readonly timeoutMs: number
  readonly listenMs: number
}

/**
 * Resolves with exit code 0 if all rigs could mine, otherwise 1.
 * @throws NewcutError
 */
export function runRigsCheck(
  server: string,
  values: RigsCheckValues,
  { out, err, untilStopped }: Pick<CommandContext, 'out' | 'err' | 'untilStopped'>,
  clock: Clock = systemClock,
): Promise<number> {
  const plan = planOf(server, values)
  return untilStopped(async (stopped) => {
    const visited = await Promise.all(plan.makers.map((maker) => attempt(maker, plan, clock, stopped)))
    if (stopped.aborted) {
      printerTo(err)('stopped before it was done')
      return 1
    }
    const checked = checkedOf(plan, visited)
    const print = printerTo(out)
    if (values.json) print(JSON.stringify(checked))
    else for (const line of checkLines(checked)) print(line)
    return checked.makers.some(({ outcome }) => outcome === 'fails') ? 1 : 0
  })
}

function planOf(server: string, values: RigsCheckValues): CheckPlan {
  const { user, password, maker, timeout: timeoutMs, 'listen-for': listenMs = 0 } = values
  const chosen = makers.filter(({ name }) => maker === undefined || name === maker)
  return { address: readServerAddress(server), account: { user, password }, makers: chosen, timeoutMs, listenMs }
}

type Attempt = { readonly maker: Manufacturer } & (
  | { readonly transcript: Transcript }
  | { readonly unreachable: NewcutError }
)

async function attempt(maker: Manufacturer, plan: CheckPlan, clock: Clock, stopped: AbortSignal): Promise<Attempt> {
  const { address, account, timeoutMs, listenMs } = plan
  try {
    const socket = await connectTo(address, clock, timeoutMs, stopped)
    return {
      maker,
      transcript: await recordTranscript(maker, { socket, clock, account, timeoutMs, listenMs, stopped }),
    }
  } catch (error) {
    if (!(error instanceof NewcutError)) throw error
    return { maker, unreachable: error }
  }
}

/** @throws NewcutError if no connection succeeded */
function checkedOf(
  { address, account, timeoutMs, listenMs }: CheckPlan,
  attempts: readonly Attempt[],
): RigsCheckReport {
  const options = { isTls: address.isTls, timeoutMs, isMeasured: listenMs > 0 }
  const visited = attempts.map((attempt): ObservedConnection & { readonly isReached: boolean } => {
    const isReached = 'transcript' in attempt
    const transcript = isReached ? attempt.transcript : noTranscript
    const report = judge(attempt.maker, account, transcript, options)
    if (isReached) return { isReached, report, transcript }
    const findings: Finding[] = [createFinding('unreachable', attempt.unreachable.message)]
    return { isReached, report: { ...report, outcome: 'fails', findings }, transcript }
  })
  const [first] = attempts
  if (!visited.some(({ isReached }) => isReached) && 'unreachable' in first) throw first.unreachable
  const reports = visited.map(({ report }) => report)
  return {
    server: address.url,
    tls: address.isTls,
    user: account.user,
    listenedMs: listenMs,
    makers: reports,
    findings: acrossMakers(visited),
    shares: shareTimes(reports),
  }
}

const noTranscript: Transcript = { openedAtMs: 0, lines: [], endedAtMs: 0, endedBy: 'server', error: null }
