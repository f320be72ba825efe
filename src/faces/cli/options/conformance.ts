/** Options of `newcut conformance`, and of `newcut rigs check`. */
import { caseNeeds, caseReleases } from '#client/conformance/words.ts'
import { MAX_PORT } from '#ground/base/host.ts'
import { makerNames } from '#pool/stratum-check/maker-rigs.ts'
import { duration, oneOf, someText, type ValueKind, wholeNumber, yesNo } from '../values.ts'
import { nodeOptions, oneNetworkFile, tlsOptions } from './node.ts'
import { flagOnly, option, optional, outputFile, withNeed } from './row.ts'

/** A time; a number without a unit is in seconds. */
function seconds(leastMs: number): ValueKind<number> {
  const kind = duration(leastMs)
  return { ...kind, parse: (raw) => kind.parse(/^\d+$/.test(String(raw)) ? `${raw}s` : raw) }
}

/** Some of these words, with commas between them. The flag may be repeated. */
function someOf<T extends string>(words: readonly T[]): ValueKind<readonly T[]> {
  return {
    isList: true,
    completions: words,
    expected: `one or more of ${words.join(', ')}, with commas between them`,
    parse: (raw) => {
      const texts = [raw].flat().flatMap((item) => (someText.parse(item) ?? '').split(','))
      const list = texts.map((text) => words.find((word) => word === text.trim()))
      return list.every((word) => word !== undefined) ? list : undefined
    },
    format: (value) => [...value],
  }
}

/** The releases as words: `live 3.2` is `live-3.2`. */
const releaseWords = caseReleases.map((release) => release.replace(' ', '-'))
const words = `${releaseWords.slice(0, -1).join(', ')} and ${releaseWords.at(-1)}`

/** Options of `newcut conformance`. */
export const conformanceOptions = {
  ...withNeed('ofNode', { node: { ...nodeOptions.node, help: 'address of the node' } }),
  serve: flagOnly(
    optional(wholeNumber(0, MAX_PORT), 'PORT', 'judge a client: serve it a node at this local port', {
      more: '0 takes any free port. The node is a new development network. It has faults and odd answers.',
    }),
  ),
  // A client that is done asks nothing for this long.
  idle: option(seconds(100), 30_000, 'TIME', '--serve ends when idle for this long', { needs: ['serving'] }),
  only: flagOnly(
    optional(someText, 'TEXT', 'run only the cases whose file or name contains this', {
      more: 'Such as headers, or one case: "headers: a page".',
    }),
  ),
  ...withNeed('ofNode', {
    needs: flagOnly(
      optional(someOf(caseNeeds), 'NEED', 'run only the cases that need no more than this', {
        more: `Needs: ${caseNeeds.join(', ')}. If not set, newcut runs all that the node offers.`,
      }),
    ),
    release: optional(oneOf(releaseWords), 'NAME', 'expectations where nodes differ', {
      more: `One of ${words}. If not set, they are those of the release that the node names.`,
    }),
  }),
  cases: flagOnly(optional(someText, 'DIR', 'folder of case files', { defaultText: 'conformance/ of newcut' })),
  'network-file': {
    ...oneNetworkFile,
    help: 'file that describes the network of the node',
    more: 'newcut changes nothing on a public network. With --serve it is the network that is served.',
  },
  ...withNeed('ofNode', {
    timeout: flagOnly(option(seconds(100), 10_000, 'TIME', 'timeout of each step')),
    insecure: tlsOptions.insecure,
    fingerprint: tlsOptions.fingerprint,
  }),
  json: flagOnly(option(yesNo, false, null, 'print the report as JSON')),
  junit: outputFile('also write the report as JUnit XML to FILE'),
}

/** An account without a known key, which servers of newcut list nowhere. The check submits no shares. */
const CHECK_USER = `k:${'0'.repeat(64)}.check`

/** A password, which may be empty. */
const password: ValueKind<string> = { ...someText, parse: (raw) => (raw === '' ? '' : someText.parse(raw)) }

/** Options of `newcut rigs check`. */
export const rigsCheckOptions = {
  user: option(someText, CHECK_USER, 'USER', 'user: ACCOUNT.WORKER', {
    more: 'newcut logs in as this user.',
    defaultText: 'an account without a key',
  }),
  password: option(password, 'x', 'TEXT', 'password of the user', { isSecret: true }),
  maker: flagOnly(optional(oneOf(makerNames), 'NAME', 'check only the rigs of this maker')),
  // The timeout of an Antminer.
  timeout: flagOnly(option(seconds(1000), 30_000, 'TIME', 'timeout of an answer and of the first job')),
  'listen-for': optional(seconds(1000), 'TIME', 'keep listening this long after the login', {
    more: 'newcut measures how often headers change, and the share of the hashrate of a rig that they keep busy.',
  }),
  json: flagOnly(option(yesNo, false, null, 'print JSON')),
}
