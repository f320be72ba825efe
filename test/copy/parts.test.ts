/** Parts of a fork, without a node to fork: its pin, its cache, its questions and its requests. */
import { appendFileSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { CopyCache } from '../../src/language/copy/cache.ts'
import { membersOf, modulesIn, originIn, stringsIn } from '../../src/language/copy/module-text.ts'
import { networkOfNode, pinHeight, readPin } from '../../src/language/copy/pin.ts'
import type { PinnedCaller, PinnedResult } from '../../src/language/copy/pinned-caller.ts'
import { askAll, type PinnedQuery, stringCode } from '../../src/language/copy/question.ts'
import { excerpt, RemoteNode } from '../../src/language/copy/remote-node.ts'

describe('a pin', () => {
  const hash = 'A'.repeat(43)
  const cut = (...heights: readonly number[]) => {
    return { network: 'n', heads: new Map(heights.map((height, chain) => [chain, { height, hash }])) }
  }

  it('a pin is 10 blocks below the lowest head, and never below the first block', () => {
    expect(pinHeight(cut(50, 70), null)).toBe(40)
    expect(pinHeight(cut(9), null)).toBe(0)
    expect(pinHeight(cut(50, 70), 50)).toBe(50)
    expect(() => pinHeight(cut(50, 70), 51)).toThrow('`fork.cut: 51`: the lowest chain has height 50')
  })

  it('a pin names its network, and blocks of one height', () => {
    const text = (network: string | null, ...heights: readonly number[]) => {
      const hashes = Object.fromEntries(heights.map((height, chain) => [chain, { height, hash }]))
      return JSON.stringify({ network, hashes })
    }
    expect(readPin(text('n', 3, 3), 'f')).toEqual({
      network: 'n',
      height: 3,
      hashes: new Map([
        [0, hash],
        [1, hash],
      ]),
    })
    for (const wrong of [text('n', 3, 4), text(null, 3, 3)])
      expect(() => readPin(wrong, 'f')).toThrow('f is not a pin: ')
  })

  it('a pin refuses a cut with an unreadable block: a chain would be missing', () => {
    for (const [chain, head] of [
      ['1x', { height: 3, hash }],
      ['1', { heigxt: 3, hash }],
      ['1', { height: 3, hasi: hash }],
      ['1', null],
    ] as const) {
      const text = JSON.stringify({ network: 'n', hashes: { 0: { height: 3, hash }, [chain]: head } })
      expect(() => readPin(text, 'f')).toThrow('f is not a cut: ')
    }
  })

  it('a pin refuses a network whose name leaves the folder of the cache', async () => {
    for (const name of ['..', '../n', 'a/b', '', 'a'.repeat(65)]) {
      const text = JSON.stringify({ network: name, hashes: { 0: { height: 3, hash } } })
      expect(() => readPin(text, 'f')).toThrow('f is not a cut: ')
      const info = JSON.stringify({ nodeVersion: name })
      const remote = { url: 'http://n', get: async () => ({ status: 200, text: info }) } as unknown as RemoteNode
      await expect(networkOfNode(remote)).rejects.toThrow('http://n is not a chainweb node: GET /info answers ')
    }
  })
})

describe('a cache', () => {
  const block = { network: 'n', chain: 0, height: 5, hash: 'h' }

  function cached(keys: readonly string[]) {
    const folder = mkdtempSync(join(tmpdir(), 'newcut-cache-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'n', '0-h.jsonl')
    const notices: string[] = []
    const open = () => new CopyCache(folder, block, (message) => notices.push(message))
    const cache = open()
    for (const key of keys) cache.put(key, 1)
    cache.save()
    return { file, open, notices, text: () => readFileSync(file, 'utf8') }
  }

  it.each([
    [1, 'line 2 is damaged or was edited'],
    [3, 'lines 2, 3, 4 are damaged or were edited'],
    [4, 'lines 2, 3, 4, and 1 more are damaged or were edited'],
  ])('a cache with %i damaged lines reports which, and drops them for good', (bad, told) => {
    const { file, open, notices, text } = cached(['a', 'b', 'c', 'd', 'e'])
    const [first, ...lines] = text().split('\n')
    writeFileSync(file, [first, ...lines.map((line, i) => (i < bad ? line.replace(',1,', ',2,') : line))].join('\n'))
    const cache = open()
    expect(notices).toEqual([`the cache ${file}: ${told}: newcut drops that, and fetches it again`])
    expect(cache.has('a')).toBe(false)
    expect(cache.get('e')).toBe(1)
    expect(text()).toBe([first, ...lines.slice(bad)].join('\n'))
    open()
    expect(notices).toHaveLength(1)
  })

  it('a cache takes no lines of another block', () => {
    const { file, open, notices, text } = cached(['a'])
    const own = text()
    const other = text().replace('"hash":"h"', '"hash":"i"')
    const otherFile = file.replace('0-h', '0-i')
    writeFileSync(otherFile, other)
    const cache = new CopyCache(dirname(dirname(file)), { ...block, hash: 'i' }, (message) => notices.push(message))
    expect(cache.has('a')).toBe(false)
    expect(notices).toEqual([expect.stringContaining('line 2 is damaged or was edited')])
    writeFileSync(file, other)
    expect(open).toThrow('is of another block or another newcut')
    writeFileSync(file, own)
    expect(open().has('a')).toBe(true)
  })

  it('a cache starts again after a part of its first line', () => {
    const { file, open, notices, text } = cached([])
    const [first] = text().split('\n')
    for (const part of ['', first.slice(0, 9), first]) {
      writeFileSync(file, part)
      const cache = open()
      cache.put('a', 1)
      cache.save()
      expect(open().has('a')).toBe(true)
      expect(text().split('\n')[0]).toEqual(first)
      expect(notices).toEqual([])
    }
  })

  it('a cache reports that its file cannot be written, and writes the same lines once it can', () => {
    const { file, open } = cached(['a'])
    const cache = open()
    const folder = dirname(file)
    renameSync(folder, `${folder}.away`)
    cache.put('b', 2)
    expect(() => cache.save()).toThrow(`the cache ${file} cannot be used: ENOENT`)
    renameSync(`${folder}.away`, folder)
    cache.put('c', 3)
    cache.save()
    expect(['a', 'b', 'c'].map((key) => open().get(key))).toEqual([1, 2, 3])
  })

  it('a cache drops half a line silently, so that the next line begins a line', () => {
    const { file, open, notices, text } = cached(['a'])
    appendFileSync(file, '["b')
    const cache = open()
    cache.put('c', null)
    cache.save()
    expect(open().has('c')).toBe(true)
    expect(notices).toEqual([])
    expect(text().split('\n')).toHaveLength(4)
  })
})

describe('questions', () => {
  /** Asks for `1`, `2` and so on; the node fails code that contains one of `fails`. */
  async function asked(codes: readonly string[], fails: readonly string[] = [], alone: readonly string[] = []) {
    const requests: string[] = []
    const exec = async (code: string) => {
      requests.push(code)
      if (fails.some((each) => code.split(/[ [\]]/).includes(each))) return { failure: 'no' }
      return { value: code.startsWith('[') ? code.slice(1, -1).split(' ') : code }
    }
    const answers: Record<string, unknown> = {}
    const questions = codes.map((code): PinnedQuery => {
      const take = (value: unknown) => {
        answers[code] = value
      }
      const failed = (message: string) => {
        answers[code] = message
        return true
      }
      return { code, take, onFailure: failed, isAlone: alone.includes(code) }
    })
    await askAll({ exec, remote: { url: 'u' } } as unknown as PinnedCaller, questions)
    return { requests, answers }
  }

  it('questions travel in requests of 100, or of 300,000 characters', async () => {
    const codes = Array.from({ length: 201 }, (_, i) => `c${i}`)
    const { requests, answers } = await asked(codes)
    expect(requests.map((code) => code.split(' ').length)).toEqual([100, 100, 1])
    expect(answers).toEqual(Object.fromEntries(codes.map((code) => [code, code])))
    const long = ['a', 'b', 'c'].map((letter) => letter.repeat(140_000))
    expect((await asked(long)).requests.map(({ length }) => length)).toEqual([280_003, 140_000])
  })

  it('a failed request for questions is halved until one question is alone', async () => {
    const codes = ['a', 'b', 'c', 'd', 'e']
    const { answers, requests } = await asked(codes, ['d'])
    expect(answers).toEqual({ a: 'a', b: 'b', c: 'c', d: 'no', e: 'e' })
    expect(requests).toEqual(['[a b c d e]', '[a b c]', '[d e]', 'd', 'e'])
    expect((await asked(codes, [], ['b'])).requests.toSorted()).toEqual(['[a c d e]', 'b'])
  })

  it('a question ends with an error if its code fails, or if the answer has other values', async () => {
    const odd = async (answer: PinnedResult, ...codes: readonly string[]) => {
      const caller = { exec: async () => answer, remote: { url: 'u' } } as unknown as PinnedCaller
      return askAll(
        caller,
        codes.map((code) => ({ code, take: () => undefined })),
      )
    }
    await expect(odd({ failure: 'Gas limit' }, '(f)')).rejects.toThrow('the forked node u fails (f) with: Gas limit')
    for (const value of [['a'], ['a', 'b', 'c'], 'ab', null]) {
      await expect(odd({ value }, '(f)', '(g)')).rejects.toThrow(
        'the forked node u returned a value of the wrong form: ',
      )
    }
  })

  it('questions quote texts as the language does', () => {
    expect(stringCode('a "b" \\\n\t')).toBe('"a \\"b\\" \\\\\\n\\t"')
  })
})

describe('the text of a module', () => {
  it('the text of a module names its members and other modules, with or without their namespace', () => {
    const code =
      '(module a G (use b) (use free.c [f]) (defconst X (d.f "defconst" e)) (defun f:object{n.s} () (g.h 1)))'
    expect(membersOf(code, 'defconst')).toEqual(['X'])
    expect(membersOf(code, 'deftable')).toEqual([])
    const known = new Set(['free.b', 'free.c', 'd', 'g', 'free.g', 'e.x'])
    expect(modulesIn(code, 'free', known).toSorted()).toEqual(['d', 'free.b', 'free.c', 'free.g', 'g'])
    expect(modulesIn(code, null, known).toSorted()).toEqual(['d', 'free.c', 'g'])
    expect(stringsIn(`(f "a" 'b "c \\"d\\"" e)`)).toEqual(['a', 'b', 'c "d"'])
    expect(membersOf('(f "', 'f')).toEqual([])
    expect(stringsIn('(f "')).toEqual([])
  })

  it('the text of a module stands after imports, and after modules that count as imports', () => {
    const modules = ['(module a G (defcap G () true))', '(interface i (defun f ()))', '(module b G (defcap G () true))']
    const text = `(namespace "free") (use coin [f])\n${modules.join('\n')}\n(use later)`
    const imports = '(use coin [f])\n(use free.a)\n(use free.i)'
    expect(originIn(text, modules[2], 'free')).toMatchObject({ place: { line: 3 }, imports })
    expect(originIn(text, modules[2], null)?.imports).toBe(imports.replaceAll('free.', ''))
    expect(originIn(text, '(module c G)', 'free')).toBe(null)
    expect(originIn('(', '(', null)).toBe(null)
  })
})

describe('requests', () => {
  async function remote(answer: (number: number, response: http.ServerResponse) => void, perSecond = 1e6) {
    const urls: string[] = []
    const server = http.createServer(({ url = '' }, response) => answer(urls.push(url), response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close().closeAllConnections())
    const notices: string[] = []
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}//`
    const onNotice = (message: string) => void notices.push(message)
    return { urls, notices, node: new RemoteNode({ url, perSecond, timeoutMs: 60_000, onNotice }) }
  }

  it('the client reports a trouble once, and again after an answer', async () => {
    const { node, notices, urls } = await remote((number, response) => {
      response.writeHead([1, 2, 4].includes(number) ? 503 : 200).end('{}')
    })
    await node.get('/a')
    expect(notices).toHaveLength(1)
    expect(urls).toEqual(['/a', '/a', '/a'])
    await node.get('/b')
    expect(notices).toHaveLength(2)
    expect(node.requests).toBe(5)
  })

  /** Pauses from now on, which are over at once. They resolve promises; timers of HTTP call functions, and stay. */
  function recordPauses(): readonly number[] {
    const pauses: number[] = []
    const { setTimeout: timer } = globalThis
    const timed = (run: (...args: readonly unknown[]) => void, ms: number, ...args: readonly unknown[]) => {
      const isPause = String(run).includes('[native code]')
      if (isPause) pauses.push(ms)
      return timer(() => run(...args), isPause ? 0 : ms)
    }
    vi.spyOn(globalThis, 'setTimeout').mockImplementation(timed as never)
    onTestFinished(() => void vi.restoreAllMocks())
    return pauses
  }

  it('the client waits twice as long each time, as long as the node says, and at most 30 s', async () => {
    const after = ['', '', '7', '3600', 'Wed, 21 Oct 2026 07:28:00 GMT']
    const { node } = await remote((number, response) => {
      const wait = after[number - 1]
      if (wait === undefined) response.end('{}')
      else response.writeHead(503, wait === '' ? {} : { 'retry-after': wait }).end('later')
    })
    const pauses = recordPauses()
    await node.get('/a')
    expect(pauses).toEqual([250, 500, 7000, 30_000, 4000])
  })

  it('the client keeps the limit of requests per second', async () => {
    const pauses = recordPauses()
    vi.spyOn(performance, 'now').mockReturnValue(1000)
    const { node } = await remote((_, response) => response.end('{}'), 4)
    await Promise.all(['/a', '/b', '/c'].map((path) => node.get(path)))
    expect(pauses).toEqual([250, 500])
  })

  it('the error shows texts of a node in one line, without control characters, and shortened', () => {
    expect(excerpt(' a\n\t b\u001b[31m\u0007 ')).toBe('a b [31m')
    expect(excerpt('x'.repeat(200))).toEqual('x'.repeat(200))
    expect(excerpt('x'.repeat(201))).toEqual(`${'x'.repeat(200)}...`)
  })

  it('a request is repeated once at status 500, whose answer counts then', async () => {
    const { node, urls } = await remote((_, response) => response.writeHead(500).end('old'))
    expect(await node.get('/a')).toEqual({ status: 500, text: 'old' })
    expect(urls).toHaveLength(2)
  })
})
