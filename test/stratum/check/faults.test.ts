/** The expected behaviour of each maker's rigs at servers with one fault. */
import { afterAll, describe, expect, it } from 'vitest'
import { encodeHex } from '../../../src/ground/base/bytes.ts'
import { type FindingSeverity, findingNames } from '../../../src/pool/stratum-check/findings.ts'
import type { ManufacturerReport } from '../../../src/pool/stratum-check/judge.ts'
import { type MakerName, makerNames } from '../../../src/pool/stratum-check/maker-rigs.ts'
import { freshWork } from '../../support/work.ts'
import {
  begin,
  good,
  header,
  reportOf,
  type Script,
  type Server,
  type Times,
  target,
  transcriptOf,
} from './scripted.ts'

/** Findings with a case in this file, to prove that none is missing. */
const seen = new Set<string>()

const foundIn = ({ findings }: ManufacturerReport) => findings.map(({ name, level }) => [name, level])

/** A server with this answer to subscribe, followed by a job. */
const subscribing = (result: unknown): Script => ({
  ...good,
  'mining.subscribe': (asked, server) => {
    server.answer(asked, result)
    server.state.isSubscribed = true
    begin(server)
  },
})

/** A server with another target and job than the good ones. */
const telling = (tell: (notify: Server['notify']) => void): Script => {
  const both = (server: Server) => {
    const { isSubscribed, isAuthorized, jobs } = server.state
    if (!isSubscribed || !isAuthorized || jobs > 0) return
    server.state.jobs = 1
    tell(server.notify)
  }
  return {
    ...good,
    'mining.subscribe': (asked, server) => {
      server.answer(asked, [null, '09e8', 6])
      server.state.isSubscribed = true
      both(server)
    },
    'mining.authorize': (asked, server) => {
      server.answer(asked, true)
      server.state.isAuthorized = true
      both(server)
    },
  }
}

/** Like the official server: closes on unknown methods and on lines that it cannot read. */
const closing: Script = {
  ...good,
  other: (_asked, { say, close }) => {
    say([-32600, 'Invalid Request', 'x'])
    close()
  },
}

const early: Script = {
  ...good,
  'mining.subscribe': (asked, server) => {
    server.notify('mining.set_target', target)
    good['mining.subscribe'](asked, server)
  },
}

const lateBy = (milliseconds: number): Script => ({
  ...good,
  'mining.authorize': (asked, server) => {
    server.answer(asked, true)
    server.state.isAuthorized = true
    server.after(milliseconds, () => begin(server))
  },
})

type Row = readonly [
  what: string,
  maker: MakerName,
  script: Script,
  outcome: ManufacturerReport['outcome'],
  findings: readonly (readonly [string, FindingSeverity])[],
  text: RegExp,
  times?: Times,
]

const job = (notify: (method: string, ...params: readonly unknown[]) => void, head = header(), id: unknown = '1') =>
  notify('mining.notify', id, head, true)

const rows: readonly Row[] = [
  // The order of lines.
  [
    'a target before the answer',
    'ka3',
    early,
    'loses',
    [
      ['firstLine', 'loss'],
      ['secondTry', 'loss'],
    ],
    /first line .* mining\.set_target.*second try, as ckbminer-v1\.0\.0/s,
  ],
  [
    'a target before the answer and a user that is refused',
    'ka3',
    { ...early, 'mining.authorize': (asked, { answer }) => answer(asked, false, [24, 'unknown', null]) },
    'fails',
    [
      ['authorizeRefused', 'fails'],
      ['firstLine', 'loss'],
      ['secondTry', 'loss'],
    ],
    /unknown \(24\)/,
  ],
  ['a target before the answer', 'goldshell', early, 'fails', [['firstLine', 'fails']], /first line/],
  ['a target before the answer', 'ibelink', early, 'fails', [['firstLine', 'fails']], /first line/],
  [
    'a target before every answer',
    'ka3-2023',
    { ...early, 'mining.subscribe': (_, server) => server.notify('mining.set_target', target) },
    'fails',
    [['firstLine', 'fails']],
    /set_target/,
  ],
  [
    'a line that is no JSON before the answer',
    'kd-box',
    { ...good, 'mining.subscribe': (_, { say }) => say('hello\n') },
    'fails',
    [['firstLine', 'fails']],
    /no message: hello/,
  ],
  [
    'an answer to what has the id null',
    'goldshell',
    { ...good, other: (asked, { answer }) => answer(asked, true) },
    'fails',
    [['nullAnswer', 'fails']],
    /id null/,
  ],
  [
    'an answer with the id null',
    'ka3',
    { ...good, 'mining.subscribe': (_, { answer }) => answer({ id: null, method: '', params: [] }, [null, '09e8', 6]) },
    'fails',
    [['nullAnswer', 'fails']],
    /id null/,
  ],
  [
    'an answer with another id',
    'ka3',
    { ...good, 'mining.subscribe': (_, { answer }) => answer({ id: 7, method: '', params: [] }, [null, '09e8', 6]) },
    'fails',
    [['wrongId', 'fails']],
    /has the id "7"/,
  ],
  // The answer to subscribe.
  [
    'a refusal of the parameters',
    'ibelink',
    { ...good, 'mining.subscribe': (asked, { answer }) => answer(asked, null, [20, 'two parameters, please', null]) },
    'fails',
    [['subscribeRefused', 'fails']],
    /two parameters, please/,
  ],
  ['an answer of another form', 'ka3', subscribing(true), 'fails', [['subscribeAnswer', 'fails']], /not \[_, nonce1/],
  ['nonce1 as a number', 'ka3', subscribing([null, 7, 6]), 'fails', [['subscribeAnswer', 'fails']], /nonce1/],
  ['three digits', 'ka3', subscribing([null, '9e8', 6]), 'fails', [['nonce1Odd', 'fails']], /3 digits.*refuses/],
  ['three digits', 'goldshell', subscribing([null, '9e8', 6]), 'loses', [['nonce1Odd', 'loss']], /3 digits.*not known/],
  ['one digit', 'ka3', subscribing([null, '8', 6]), 'fails', [['nonce1Odd', 'fails']], /1 digit,/],
  ['two digits', 'ka3', subscribing([null, 'e8', 6]), 'loses', [['nonceBytes', 'loss']], /1 bytes and nonce2 6/],
  ['five bytes', 'ka3', subscribing([null, '0009e8', 5]), 'loses', [['nonce2Few', 'loss']], /three boards.*20 ms/],
  ['five bytes', 'ibelink', subscribing([null, '0009e8', 5]), 'loses', [['nonce2Few', 'loss']], /after 16 ms/],
  ['four bytes', 'ka3', subscribing([null, '000009e8', 4]), 'fails', [['nonce2Size', 'fails']], /4 bytes.*5 to 8/],
  ['nine bytes', 'farm', subscribing([null, '', 9]), 'fails', [['nonce2Size', 'fails']], /9 bytes.*1 to 8/],
  ['no number of bytes', 'kd-box', subscribing([null, '09e8']), 'fails', [['nonce2Size', 'fails']], /NaN bytes/],
  // Authorization.
  [
    'a user that is refused',
    'ka3',
    { ...good, 'mining.authorize': (asked, { answer }) => answer(asked, false, [24, 'unknown account', null]) },
    'fails',
    [['authorizeRefused', 'fails']],
    /unknown account \(24\)/,
  ],
  [
    'false as the answer',
    'goldshell',
    { ...good, 'mining.authorize': (asked, { answer }) => answer(asked, false) },
    'fails',
    [['authorizeRefused', 'fails']],
    /the result is false/,
  ],
  [
    'one user a connection',
    'farm',
    {
      ...good,
      'mining.authorize': (asked, server) => {
        if (server.state.isAuthorized) server.answer(asked, null, [24, 'authorized already', null])
        else good['mining.authorize'](asked, server)
      },
    },
    'fails',
    [['userRefused', 'fails']],
    /further user.*authorized already/,
  ],
  [
    'no answer to the second user',
    'farm',
    {
      ...good,
      'mining.authorize': (asked, server) => {
        if (!server.state.isAuthorized) good['mining.authorize'](asked, server)
      },
    },
    'fails',
    [['noAnswer', 'fails']],
    /mining\.authorize has no answer within 30 s/,
  ],
  [
    'no answer at all',
    'ka3',
    { ...good, 'mining.subscribe': () => undefined },
    'fails',
    [['noAnswer', 'fails']],
    /mining\.subscribe has no answer within 20 s/,
    { timeoutMs: 20_000 },
  ],
  [
    'no answer to authorize',
    'authorize-first',
    { ...good, 'mining.authorize': () => undefined },
    'fails',
    [['noAnswer', 'fails']],
    /mining\.authorize has no answer/,
  ],
  // Closed connections.
  [
    'a connection that is closed upon what is not known, also before the log-in',
    'goldshell',
    { ...closing, other: (_, { close }) => close() },
    'fails',
    [['closed', 'fails']],
    /closes the connection before it has subscribed/,
  ],
  [
    'a close without a line',
    'ka3',
    { ...good, 'mining.subscribe': (_, { close }) => close() },
    'fails',
    [['closedAtOnce', 'fails']],
    /without a line/,
  ],
  [
    'an error alone for what is not known, then a close',
    'goldshell',
    closing,
    'fails',
    [['nullAnswer', 'fails']],
    /id null/,
  ],
  [
    'a close upon what a setting makes it ask',
    'goldshell',
    { ...closing, 'mining.suggest_target': () => undefined },
    'loses',
    [['closedAfter', 'loss']],
    /when it asks mining\.extranonce\.subscribe and mining\.get_transactions/,
  ],
  [
    'a close at the log-in',
    'ka3',
    { ...good, 'mining.authorize': (_, { close }) => close() },
    'fails',
    [['closed', 'fails']],
    /before it has authorized/,
  ],
  [
    'a close for want of shares',
    'ka3',
    {
      ...good,
      'mining.authorize': (asked, server) => {
        good['mining.authorize'](asked, server)
        server.after(5_000, () => server.close())
      },
    },
    'loses',
    [
      ['closedLater', 'loss'],
      ['slowHeaders', 'loss'],
    ],
    /after 5 s without a share/,
    { listenMs: 10_000 },
  ],
  // Targets and jobs.
  [
    'a target of 63 digits',
    'ka3',
    telling((notify) => {
      notify('mining.set_target', target.slice(1))
      job(notify)
    }),
    'fails',
    [['targetDigits', 'fails']],
    /63 digits, not 64, which it refuses/,
  ],
  [
    'a target of 63 digits',
    'kd-box',
    telling((notify) => {
      notify('mining.set_target', target.slice(1))
      job(notify)
    }),
    'loses',
    [['targetDigits', 'loss']],
    /63 digits/,
  ],
  [
    'a target that is no number',
    'ibelink',
    telling((notify) => {
      notify('mining.set_target', 'z'.repeat(64))
      notify('mining.set_target', target)
      job(notify)
    }),
    'fails',
    [['targetText', 'fails']],
    /not a number above 0/,
  ],
  [
    'a difficulty and no target',
    'ka3',
    telling((notify) => {
      notify('mining.set_difficulty', 1e15)
      job(notify)
    }),
    'loses',
    [['onlyDifficulty', 'loss']],
    /unit/,
  ],
  ['a job and no target', 'ka3', telling((notify) => job(notify)), 'fails', [['noTarget', 'fails']], /no target/],
  [
    'a target that is far too easy',
    'ka3',
    telling((notify) => {
      notify('mining.set_target', 'f'.repeat(64))
      job(notify)
    }),
    'mines',
    [['easyShares', 'note']],
    /2\^0 hashes.*151 a second/,
  ],
  [
    'a target that is far too hard',
    'ka3',
    telling((notify) => {
      notify('mining.set_target', `${'0'.repeat(15)}f${'f'.repeat(48)}`)
      job(notify)
    }),
    'mines',
    [['hardShares', 'note']],
    /2\^60 hashes.*one in 1 h 55 m/,
  ],
  [
    'a job without a header',
    'ka3',
    telling((notify) => {
      notify('mining.set_target', target)
      notify('mining.notify', '1')
    }),
    'fails',
    [
      ['notifyForm', 'fails'],
      ['noJob', 'fails'],
    ],
    /job id, header, clean/,
  ],
  [
    'an odd number of digits in the header',
    'farm',
    telling((notify) => {
      notify('mining.set_target', target)
      job(notify, header().slice(1))
      job(notify)
    }),
    'fails',
    [['notifyForm', 'fails']],
    /job id, header, clean/,
  ],
  [
    'a header of more than 288 bytes',
    'ka3',
    telling((notify) => {
      notify('mining.set_target', target)
      job(notify, encodeHex(freshWork(1n, 4)))
    }),
    'fails',
    [['headerLength', 'fails']],
    /322 bytes, and more than 288 overrun/,
  ],
  [
    'a header of fewer bytes',
    'goldshell',
    telling((notify) => {
      notify('mining.set_target', target)
      job(notify, encodeHex(freshWork(1n, 2)))
    }),
    'fails',
    [['headerLength', 'fails']],
    /250 bytes, and it knows the place of the nonce in 286/,
  ],
  ...(
    [
      ['a number', 7, /is a number/],
      ['64 characters', 'a'.repeat(64), /has 64 characters/],
      ['nothing', null, /is not a text/],
      ['an empty text', '', /is empty/],
      ['not ASCII', 'é', /is not ASCII/],
    ] as const
  ).map(([what, id, text]): Row => {
    const script = telling((notify) => {
      notify('mining.set_target', target)
      job(notify, header(), id)
    })
    return [`a job id that is ${what}`, 'ka3', script, 'fails', [['jobId', 'fails']], text]
  }),
  ['a job after a second', 'ka3', lateBy(1000), 'loses', [['lateJob', 'loss']], /1 s after its log-in/],
  ['a job after half a second', 'ka3', lateBy(500), 'mines', [], /^$/],
  ['no job', 'ibelink', lateBy(1e6), 'fails', [['noJob', 'fails']], /no job comes within 30 s/],
  [
    'a line that is no message',
    'ka3',
    telling((notify) => {
      notify('mining.set_target', target)
      notify('x'.repeat(100))
      job(notify)
    }),
    'loses',
    [['garbage', 'loss']],
    /not a message/,
  ],
  [
    'client.reconnect',
    'ka3',
    telling((notify) => {
      notify('client.reconnect', 'other', 1917)
      notify('mining.set_target', target)
      job(notify)
    }),
    'mines',
    [['reconnect', 'note']],
    /ignores/,
  ],
  // TLS.
  ['TLS', 'ka3', good, 'fails', [['tls', 'fails']], /cannot do TLS/, { isTls: true }],
  ['TLS', 'ibelink', good, 'mines', [['tls', 'note']], /most rigs cannot/, { isTls: true }],
]

describe('a server with', () => {
  it.each(rows.map((row) => [row[0], row[1], row] as const))('a server with %s: %s', async (_what, _maker, row) => {
    const [, maker, script, outcome, findings, text, times = {}] = row
    const report = await reportOf(maker, script, times)
    for (const { name } of report.findings) seen.add(name)
    expect({ outcome: report.outcome, findings: foundIn(report) }).toEqual({ outcome, findings })
    expect(report.findings.map((each) => each.text).join('\n')).toMatch(text)
  })
})

it('a rig that gives up leaves at once, and the report has what came first', async () => {
  const { openedAtMs, endedAtMs, endedBy } = await transcriptOf('ka3', subscribing(true))
  expect(endedAtMs - openedAtMs).toBe(0)
  expect(endedBy).toBe('check')
  const twice = telling((notify) => {
    notify('mining.set_target', target.slice(1))
    notify('mining.set_target', target.slice(2))
    job(notify)
  })
  expect((await reportOf('ka3', twice)).findings).toMatchObject([{ text: expect.stringContaining('63 digits') }])
})

describe('a good server', () => {
  it.each(makerNames)('a good server lets every rig of %s mine, at once', async (maker) => {
    const report = await reportOf(maker, good)
    expect(report).toMatchObject({ outcome: 'mines', findings: [], nonce1: '09e8', nonce2Bytes: 6 })
    expect(report).toMatchObject({ loginMs: 0, firstJobMs: 0, firstDifficulty: 2 ** 48, difficulty: 2 ** 48 })
  })

  it('a good server may answer authorize with an empty list, and send the job first', async () => {
    const script: Script = {
      ...good,
      'mining.authorize': (asked, server) => {
        server.state.isAuthorized = true
        begin(server)
        server.answer(asked, [])
      },
    }
    for (const maker of makerNames) expect((await reportOf(maker, script)).findings).toEqual([])
  })

  it('a good server may send messages that rigs ignore', async () => {
    const script = telling((notify) => {
      notify('client.show_message', 'hello')
      notify('mining.set_extranonce', '09e8', 6)
      notify('mining.set_target', target)
      job(notify)
    })
    for (const maker of makerNames) expect((await reportOf(maker, script)).findings).toEqual([])
  })
})

/** Findings about several connections, the network and measurements have their own tests. */
const elsewhere = ['unreachable', 'sharedNonce1', 'someNonce1Odd', 'silence', 'oldHeaders', 'fastHeaders']

afterAll(() => {
  expect([...seen, ...elsewhere].toSorted()).toEqual(findingNames.toSorted())
})
