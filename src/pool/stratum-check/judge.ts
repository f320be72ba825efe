/** Judges how a rig would do at a server. Pure: reads the transcript of one connection. */
import { difficultyOf } from '#ground/chain/target.ts'
import { secondsPerShare } from '#mining/stratum/rig-rates.ts'
import { createFinding, type Finding, type FindingSeverity, levels } from './findings.ts'
import { Login, type SessionStage } from './login.ts'
import type { MakerName } from './maker-rigs.ts'
import type { Manufacturer, RigLogin } from './makers.ts'
import { headerMsOf, type JobTiming, measureJobs } from './measure.ts'
import type { Transcript } from './transcript.ts'

/** `mines`: without loss. */
export type ManufacturerOutcome = 'mines' | 'loses' | 'fails'

export interface ManufacturerReport {
  readonly maker: MakerName
  readonly rig: string
  readonly outcome: ManufacturerOutcome
  /** The worst first. */
  readonly findings: readonly Finding[]
  readonly nonce1: string | null
  readonly nonce2Bytes: number | null
  /** Time from the connection to the log-in, and from there to the first job. Null if it did not happen. */
  readonly loginMs: number | null
  readonly firstJobMs: number | null
  /** First and last share difficulty in hashes, or null without a target. */
  readonly firstDifficulty: number | null
  readonly difficulty: number | null
  /** Null if the check did not listen after the log-in. */
  readonly measure: JobTiming | null
}

interface JudgeOptions {
  readonly isTls: boolean
  /** Timeout of the check for each answer and for the first job. */
  readonly timeoutMs: number
  /** Whether the check listened after the log-in. */
  readonly isMeasured: boolean
}

/** A rig counts as idle at its log-in if its first job comes later than this. */
const PROMPT_MS = 500
/** A lower portion of new nonces is a finding. */
const USED_ENOUGH = 0.99
/** Limits of a suitable difficulty: shares per second, and seconds per share. */
const MAX_SHARES_PER_SECOND = 10
const MAX_SECONDS_PER_SHARE = 600
/** New headers per second without a note: two, plus those of new work. */
const MAX_HEADERS_PER_SECOND = 4

const phaseTexts: Readonly<Record<SessionStage, string>> = {
  subscribe: 'before it has subscribed',
  authorize: 'before it has authorized',
  job: 'before its first job',
  probing: 'after its log-in',
  mining: 'after its log-in',
  failed: 'after its log-in',
}

/** Judges a maker's rig by a transcript. */
export function judge(
  maker: Manufacturer,
  account: RigLogin,
  transcript: Transcript,
  options: JudgeOptions,
): ManufacturerReport {
  const login = replay(maker, account, transcript)
  const { nonce1, nonce2Bytes, loggedInAtMs, jobs, targets } = login
  if (options.isTls) login.addFinding(createFinding('tls', maker))
  if (login.stage !== 'failed') judgeEnd(login, transcript, options)
  const firstJobMs = loggedInAtMs === null || jobs.length === 0 ? null : Math.max(0, jobs[0].atMs - loggedInAtMs)
  if (firstJobMs !== null && firstJobMs > PROMPT_MS) login.addFinding(createFinding('lateJob', firstJobMs))
  judgeShares(login)
  const measure = options.isMeasured ? judgeJobs(login, transcript) : null
  const findings = login.findings.toSorted((a, b) => levels.indexOf(b.level) - levels.indexOf(a.level))
  return {
    maker: maker.name,
    rig: maker.rig,
    outcome: outcomeOf(findings),
    findings,
    nonce1,
    nonce2Bytes,
    measure,
    loginMs: loggedInAtMs === null ? null : loggedInAtMs - transcript.openedAtMs,
    firstJobMs,
    firstDifficulty: difficultyIn(targets[0]?.target),
    difficulty: difficultyIn(targets.at(-1)?.target),
  }
}

function replay(maker: Manufacturer, account: RigLogin, { lines }: Transcript): Login {
  const login = new Login(maker, account)
  login.open()
  for (const { by, line, atMs } of lines) if (by === 'server') login.hear(line, atMs)
  return login
}

function outcomeOf(findings: readonly Finding[]): ManufacturerOutcome {
  const has = (level: FindingSeverity) => findings.some((each) => each.level === level)
  return has('fails') ? 'fails' : has('loss') ? 'loses' : 'mines'
}

/** Judges the end of the connection: complete, closed by the server, or without an answer. */
function judgeEnd(login: Login, { endedBy, endedAtMs, error }: Transcript, { timeoutMs }: JudgeOptions): void {
  const { stage, maker, loggedInAtMs, heardAtMs, unanswered } = login
  if (login.hasDifficulty && login.targets.length === 0) login.addFinding(createFinding('onlyDifficulty'))
  if (endedBy === 'server') {
    if (stage === 'mining') login.addFinding(createFinding('closedLater', endedAtMs - (loggedInAtMs ?? endedAtMs)))
    else if (stage === 'probing') login.addFinding(createFinding('closedAfter', unanswered.join(' and ')))
    else if (heardAtMs.length === 0 && maker.before.length === 0) login.addFinding(createFinding('closedAtOnce'))
    else login.addFinding(createFinding('closed', phaseTexts[stage], error === null ? '' : ` (${error})`))
  } else if (stage === 'subscribe' || stage === 'authorize') {
    login.addFinding(createFinding('noAnswer', `mining.${stage}`, timeoutMs))
  } else if (stage === 'job') {
    if (maker.users > 1 && login.waitsForUsers)
      login.addFinding(createFinding('noAnswer', 'mining.authorize', timeoutMs))
    else login.addFinding(login.jobs.length === 0 ? createFinding('noJob', timeoutMs) : createFinding('noTarget'))
  }
}

/** Judges the share rate of the maker's fastest rig at the last target. */
function judgeShares(login: Login): void {
  const difficulty = difficultyIn(login.targets.at(-1)?.target)
  if (difficulty === null || login.maker.rate === null) return
  const seconds = secondsPerShare(difficulty, login.maker.rate)
  if (1 / seconds > MAX_SHARES_PER_SECOND) login.addFinding(createFinding('easyShares', difficulty, 1 / seconds))
  if (seconds > MAX_SECONDS_PER_SHARE) login.addFinding(createFinding('hardShares', difficulty, seconds))
}

function judgeJobs(login: Login, { endedAtMs }: Transcript): JobTiming | null {
  const { maker, nonce2Bytes, loggedInAtMs, jobs, heardAtMs } = login
  if (loggedInAtMs === null || nonce2Bytes === null) return null
  const times = heardAtMs.filter((atMs) => atMs >= loggedInAtMs)
  const measure = measureJobs(jobs, times, { headerMs: headerMsOf(maker, nonce2Bytes), endMs: endedAtMs })
  if (measure === null) return null
  const { longestSilenceMs, headerMs, used, repeated, headersPerSecond } = measure
  if (longestSilenceMs >= maker.silenceMs) login.addFinding(createFinding('silence', maker, longestSilenceMs))
  if (used !== null && headerMs !== null && used < USED_ENOUGH)
    login.addFinding(createFinding('slowHeaders', headerMs, used))
  if (repeated > 0) login.addFinding(createFinding('oldHeaders', repeated))
  if (headersPerSecond > MAX_HEADERS_PER_SECOND) login.addFinding(createFinding('fastHeaders', headersPerSecond))
  return measure
}

function difficultyIn(target: bigint | undefined): number | null {
  const difficulty = target === undefined ? null : difficultyOf(target)
  return difficulty === null ? null : Number(difficulty)
}
