/** All findings of the check: the problem that a rig has with a server, and how to fix the server. */
import { formatDuration, formatHashrate } from '#ground/base/units.ts'
import { KA3_SHORT_HEADER_MS } from '#mining/stratum/rig-rates.ts'
import type { Manufacturer } from './makers.ts'

/** `note`: worth knowing. `loss`: the rig mines with less than its hashrate. `fails`: it does not mine. */
export const levels = ['note', 'loss', 'fails'] as const
export type FindingSeverity = (typeof levels)[number]

export interface Finding {
  readonly name: FindingName
  readonly level: FindingSeverity
  /** The effect on the rig, and its cause. */
  readonly text: string
  /** How to change the server; empty if there is nothing to change. */
  readonly remedy: string
}

/** Assumed hashrate of an unknown rig, in hashes per second. */
const TYPICAL = 30e12

type RigTraits = Pick<Manufacturer, 'isStrict' | 'silenceMs' | 'rate'>

const levelFor = ({ isStrict }: RigTraits): FindingSeverity => (isStrict ? 'fails' : 'loss')
const unknownEffect = ({ isStrict }: RigTraits) => (isStrict ? '' : '; what it makes of that is not known')
const bits = (difficulty: number) => `2^${Number(Math.log2(difficulty).toFixed(1))}`
const percent = (portion: number) => `${Math.round(portion * 1000) / 10} %`

const texts = {
  // Log-in.
  tls: ({ isStrict }: RigTraits) => ({
    level: isStrict ? 'fails' : 'note',
    text: isStrict ? 'it cannot do TLS' : 'whether it can do TLS is not known, and most rigs cannot',
    remedy: 'serve stratum+tcp on another port',
  }),
  firstLine: (what: string) => ({
    level: 'fails',
    text: `it takes the first line after mining.subscribe as the answer, and that is ${what}`,
    remedy: 'send no target, job or message before the answer to mining.subscribe',
  }),
  nullAnswer: () => ({
    level: 'fails',
    text: 'it takes the first line after mining.subscribe as the answer, and that is an answer with the id null',
    remedy: 'do not answer messages with the id null',
  }),
  wrongId: (id: string) => ({
    level: 'fails',
    text: `the answer to mining.subscribe has the id ${id}, not that of the question`,
    remedy: 'answer with the id of the question',
  }),
  subscribeRefused: (why: string) => ({
    level: 'fails',
    text: `its mining.subscribe is refused: ${why}`,
    remedy: 'take [agent], [agent, null], [agent, session] and [] as its parameters',
  }),
  subscribeAnswer: () => ({
    level: 'fails',
    text: 'the answer to mining.subscribe is not [_, nonce1, bytes of nonce2]',
    remedy: 'answer such as [null, "09e8", 6]',
  }),
  nonce1Odd: (of: RigTraits, digits: number) => ({
    level: levelFor(of),
    text: `nonce1 has ${digits} ${digits === 1 ? 'digit' : 'digits'}, an odd number${of.isStrict ? ', which it refuses' : unknownEffect(of)}`,
    remedy: 'write nonce1 with its leading zeros',
  }),
  nonceBytes: (nonce1: number, nonce2: number) => ({
    level: 'loss',
    text: `nonce1 has ${nonce1} bytes and nonce2 ${nonce2}, but a nonce has 8: its shares may all be refused`,
    remedy: 'write nonce1 with its leading zeros, and name the bytes that it leaves',
  }),
  nonce2Size: (bytes: string, range: string) => ({
    level: 'fails',
    text: `nonce2 has ${bytes} bytes, and it takes ${range}`,
    remedy: 'give nonce1 two bytes and nonce2 six',
  }),
  nonce2Few: ({ isStrict, rate }: RigTraits, bytes: number) => ({
    level: 'loss',
    text: isStrict
      ? `nonce2 has ${bytes} bytes: its three boards search the same nonces, and a header lasts ${KA3_SHORT_HEADER_MS} ms`
      : `nonce2 has ${bytes} bytes: a rig of ${formatHashrate(rate ?? TYPICAL)} has tried all of a header after ${formatDuration((256 ** bytes / (rate ?? TYPICAL)) * 1000)}`,
    remedy: 'give nonce1 two bytes and nonce2 six',
  }),
  secondTry: (agent: string) => ({
    level: 'loss',
    text: `it logs in at its second try, as ${agent}`,
    remedy: '',
  }),
  authorizeRefused: (why: string) => ({
    level: 'fails',
    text: `its mining.authorize is refused: ${why}`,
    remedy: 'none at the server, if the user is unknown there: --user names another',
  }),
  userRefused: (why: string) => ({
    level: 'fails',
    text: `a further user on its connection is refused: ${why}`,
    remedy: 'let a connection authorize several users',
  }),
  noAnswer: (method: string, afterMs: number) => ({
    level: 'fails',
    text: `${method} has no answer within ${formatDuration(afterMs)}`,
    remedy: 'answer with the id of the question',
  }),
  closed: (during: string, why: string) => ({
    level: 'fails',
    text: `the server closes the connection ${during}${why}`,
    remedy: 'answer an unknown method with error -32601, ignore messages with the id null, and stay open',
  }),
  closedAtOnce: () => ({
    level: 'fails',
    text: 'the server closes the connection without a line',
    remedy: 'is the port one of TLS (stratum+ssl://HOST:PORT), and may this address connect?',
  }),
  closedAfter: (method: string) => ({
    level: 'loss',
    text: `the server closes the connection when it asks ${method}, as some settings cause`,
    remedy: 'answer an unknown method with error -32601, and stay open',
  }),
  closedLater: (afterMs: number) => ({
    level: 'loss',
    text: `the server closes the connection after ${formatDuration(afterMs)} without a share: as a spare pool it is gone`,
    remedy: 'keep connections without shares: an Antminer keeps one to each of its three pools',
  }),
  unreachable: (why: string) => ({
    level: 'fails',
    text: `it gets no connection, while others do: ${why}`,
    remedy: 'allow more connections from one address',
  }),
  sharedNonce1: (nonce1: string) => ({
    level: 'loss',
    text: `two connections have the nonce1 ${nonce1} at the same time: such rigs search the same nonces`,
    remedy: 'give each connection a nonce1 of its own',
  }),
  someNonce1Odd: (nonce1: string) => ({
    level: 'loss',
    text: `nonce1 is ${nonce1} on one of the connections: an Antminer that gets an odd number of digits is refused`,
    remedy: 'write nonce1 with its leading zeros',
  }),
  // Targets and jobs.
  targetDigits: (of: RigTraits, digits: number) => ({
    level: levelFor(of),
    text: `mining.set_target has ${digits} digits, not 64${of.isStrict ? ', which it refuses' : unknownEffect(of)}`,
    remedy: 'write the target with its leading zeros: 64 hex digits',
  }),
  targetText: () => ({
    level: 'fails',
    text: 'mining.set_target is not a number above 0 in hex digits',
    remedy: 'send the target as 64 hex digits, the highest first',
  }),
  onlyDifficulty: () => ({
    level: 'loss',
    text: 'it gets a difficulty but no target, and its unit of difficulty is unknown',
    remedy: 'send mining.set_target with 64 hex digits',
  }),
  noTarget: () => ({
    level: 'fails',
    text: 'it has a job and no target, so it does not know which shares to submit',
    remedy: 'send mining.set_target before the first job',
  }),
  notifyForm: () => ({
    level: 'fails',
    text: 'mining.notify is not [job id, header, clean]',
    remedy: 'send the job id as a text, then the work as hex',
  }),
  jobId: (of: RigTraits, what: string) => ({
    level: levelFor(of),
    text: `the job id ${what}${unknownEffect(of)}`,
    remedy: 'make job ids texts of less than 64 ASCII characters',
  }),
  headerLength: ({ isStrict }: RigTraits, bytes: number) => ({
    level: 'fails',
    text:
      isStrict && bytes > 288
        ? `the header has ${bytes} bytes, and more than 288 overrun its memory`
        : `the header has ${bytes} bytes, and it knows the place of the nonce in 286 only`,
    remedy: 'let rigs mine networks with three adjacent chains only, such as the live ones',
  }),
  lateJob: (afterMs: number) => ({
    level: 'loss',
    text: `its first job comes ${formatDuration(afterMs)} after its log-in: it is idle for that long at each log-in`,
    remedy: 'send target and current job right after the answer to mining.authorize',
  }),
  noJob: (afterMs: number) => ({
    level: 'fails',
    text: `no job comes within ${formatDuration(afterMs)}`,
    remedy: 'send the current job right after the answer to mining.authorize; has the server work?',
  }),
  easyShares: (difficulty: number, perSecond: number) => ({
    level: 'note',
    text: `shares of ${bits(difficulty)} hashes: the fastest of these rigs submits ${Math.round(perSecond)} a second`,
    remedy: 'begin with 2^44 hashes or more for ASICs: easier targets than 2^40 change nothing for them',
  }),
  hardShares: (difficulty: number, seconds: number) => ({
    level: 'note',
    text: `shares of ${bits(difficulty)} hashes: the fastest of these rigs submits one in ${formatDuration(seconds * 1000)}`,
    remedy: 'begin easier, or take a difficulty from the password or the user',
  }),
  garbage: () => ({ level: 'loss', text: 'a line is not a message', remedy: 'send one JSON object a line' }),
  reconnect: () => ({
    level: 'note',
    text: 'it gets client.reconnect, which it ignores',
    remedy: 'keep the address, and move the server behind it',
  }),
  // Measurements.
  silence: ({ silenceMs }: RigTraits, gapMs: number) => ({
    level: 'loss',
    text: `${formatDuration(gapMs)} pass without a line: it leaves after ${formatDuration(silenceMs)}, and waits 30 s before it connects again`,
    remedy: 'send a line in 30 s at least, such as the last job with a creation time a microsecond later',
  }),
  slowHeaders: (headerMs: number, used: number) => ({
    level: 'loss',
    text: `it exhausts a header in ${formatDuration(headerMs)}, and new ones come too slowly: it uses ${percent(used)} of its hashrate, and repeats work or idles for the rest`,
    remedy:
      'move the creation time on by a microsecond before it can have searched the header; if the server decides by the rate of shares, this check cannot show it, because it submits none',
  }),
  oldHeaders: (count: number) => ({
    level: 'loss',
    text: `${count} ${count === 1 ? 'job has a header' : 'jobs have headers'} that it has searched before: its shares are duplicates`,
    remedy: 'never send a header twice once another was sent',
  }),
  fastHeaders: (perSecond: number) => ({
    level: 'note',
    text: `${Math.round(perSecond * 10) / 10} new headers come a second; two are known to be safe`,
    remedy: 'send two a second at most',
  }),
} as const satisfies Readonly<
  Record<
    string,
    (...args: never[]) => { readonly level: FindingSeverity; readonly text: string; readonly remedy: string }
  >
>

type FindingName = keyof typeof texts

export const findingNames = Object.keys(texts) as FindingName[]

/** Builds a finding. The arguments are those of its row in the table. */
export function createFinding<Name extends FindingName>(
  name: Name,
  ...args: Parameters<(typeof texts)[Name]>
): Finding {
  const text = texts[name] as (...args: unknown[]) => Omit<Finding, 'name'>
  return { name, ...text(...args) }
}
