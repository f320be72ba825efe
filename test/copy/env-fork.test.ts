/** `env-fork`: test files that fork a network themselves. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { run } from '../cli/run.ts'
import { folder, remoteOfFile } from './network.ts'
import { proxyTo } from './proxy.ts'

const remote = remoteOfFile()

/** A proxy to the node, and runs of test files in a folder. */
async function workplace() {
  const { devnet } = remote
  const proxy = await proxyTo(devnet.url)
  const home = folder()
  const height = Math.min(...[...devnet.cut.values()].map((head) => Number(head.height)))
  const file = (name: string, text: string) => {
    writeFileSync(join(home, name), text)
    return join(home, name)
  }
  const options = `"cut": ${height}, "limit": "1000/s"`
  return {
    ...{ proxy, home, height, file },
    /** A call that forks the node. @param more further fields */
    fork: (more = '"cache": "off"') => `(env-fork "${proxy.url}" {${options}, ${more}})\n`,
    test: async (text: string, args: readonly string[] = []) => {
      const { out, err, code } = await run(['test', file('test.repl', text), ...args])
      return { out: out.replace(/[.\w/-]*\/(?=\w+\.repl)/g, ''), err, code }
    },
  }
}

const BALANCE = '(expect "balance" 100.5 (free.fork-token.balance "alice"))'

/** `PLACE: MESSAGE` of the early end in an output. */
function endIn(out: string): string {
  const lines = out.split('\n').map((line) => line.trim())
  const at = lines.indexOf('FAIL the file ends early')
  return `${lines[at + 1]}: ${lines[lines.indexOf('', at) - 1]}`
}

it('env-fork gives the test file the state of the network', async () => {
  const { fork, test, file, height, proxy } = await workplace()
  file(
    'setup.repl',
    `${fork()}(env-data {"k": {"keys": ["a"], "pred": "keys-all"}}) (env-keys ["a"])
     (begin-tx) (free.fork-token.open "carol" (read-keyset "k")) (commit-tx)`,
  )
  file('empty.repl', '')
  const { out, err, code } = await test(`(env-keys ["b"])
(defconst BEFORE 1)
(begin-tx)
(define-keyset "dropped" (sig-keyset))
(rollback-tx)
(load "setup.repl")
${BALANCE}
(expect "definitions stay" 1 BEFORE)
(expect "block" ["0" ${height + 1}] [(at "chain-id" (chain-data)) (at "block-height" (chain-data))])
(begin-tx)
(test-capability (free.fork-token.TRANSFER "carol" "alice" 0.5))
(free.fork-token.transfer "carol" "alice" 0.5)
(expect "own writes lie above" 101.0 (free.fork-token.balance "alice"))
(rollback-tx)
${BALANCE}
(expect "tables as a whole" ["alice" "bob" "carol"] (free.fork-token.names))
${fork()}
(expect "the same fork again changes nothing" 100.5 (free.fork-token.balance "carol"))
(load "empty.repl" true)
(expect "a reset forgets the fork" [] (list-modules))`)
  expect(out).toMatch(/^8 passed, 0 failed, 0 skipped, 1 file, .*\n$/m)
  expect(err).toContain(`fork of development at height ${height}, chain 0; again: (env-fork "${proxy.url}" {"cut": {`)
  expect(err.match(/fork of/g)).toHaveLength(1)
  expect(err).toContain(`requests to ${proxy.url}: ${proxy.seen.length}\n`)
  expect(code).toBe(0)
})

it('env-fork must stand before all code that writes, and its error names what is in its way', async () => {
  const { fork, test, proxy } = await workplace()
  const stop = async (text: string, args: readonly string[] = []) => endIn((await test(text, args)).out)
  expect(await stop(`(begin-tx)\n${fork()}`)).toBe('test.repl:2:1: env-fork must come first: a transaction is open')
  const module = '(module m G (defcap G () true))\n'
  expect(await stop(`${module}${fork()}`)).toBe(
    'test.repl:2:1: env-fork must come first: the file has written already: modules m',
  )
  expect(proxy.seen).toEqual([])
  const other = fork('"cache": "off", "timeout": "5s"')
  expect(await stop(`${fork()}${module}${other}`)).toBe(
    'test.repl:3:1: env-fork must come first: the file has written already: modules m',
  )
  expect((await test(`${fork()}${other}(expect "n" 1 2)`)).out).toMatch(/FAIL n .*\n +test\.repl:3:1\n/)
  expect(await stop('(module m G (defcap G () true) (defun f () (env-fork "http://127.0.0.1:1")))')).toContain(
    'repl native disallowed in module code',
  )
})

it('env-fork takes the options of the command line as fields, and refuses others with their place', async () => {
  const { fork, test, proxy, home, height } = await workplace()
  mkdirSync(join(home, 'inner'))
  const { err } = await test(`${fork('"cache": "inner/cache"')}${BALANCE}`)
  expect(existsSync(join(home, 'inner', 'cache', 'development'))).toBe(true)
  // The printed pin and the cache make a fork that needs no node.
  const [, again] = /again: (\(env-fork .*\{"cut": .*\})\)\n/.exec(err) ?? []
  const asked = proxy.seen.length
  const offline = await test(`${again.slice(0, -1)}, "cache": "inner/cache"})${BALANCE}`)
  expect(offline.code).toBe(0)
  expect(proxy.seen).toHaveLength(asked)
  writeFileSync(join(home, 'cut.json'), /\{"cut": (.*)\}$/.exec(again)?.[1] ?? '')
  const named = await test(`(env-fork "${proxy.url}" {"cut": "cut.json", "cache": "inner/cache"})${BALANCE}`)
  expect(named.code).toBe(0)
  expect(proxy.seen).toHaveLength(asked)

  const stop = async (url: string, field: string) => {
    return endIn((await test(`(+ 1 2)\n  (env-fork "${url}" {${field}})`)).out)
  }
  const { url } = proxy
  const at = 'test.repl:2:3: env-fork: '
  expect(await stop('nowhere://', '"cache": "off"')).toContain(`${at}"nowhere://": `)
  expect(await stop(url, '"hight": 3')).toBe(
    `${at}"hight" is not an option (fields: chain, cut, cache, limit, timeout, table-rows, pacts)`,
  )
  expect(await stop(url, '"limit": 5')).toBe(`${at}"limit": 5: expected a number of requests in a second, such as 5/s`)
  expect(await stop(url, '"cut": true')).toBe(`${at}"cut": true: expected some text`)
  expect(await stop(url, `"cache": "off", "cut": ${height}, "chain": "0,1"`)).toBe(
    `${at}"chain": a test file runs on one chain (name one of them)`,
  )
  expect(await stop(url, '"cache": "off", "cut": "none.json"')).toContain(`${at}\`fork.cut: ${home.slice(0, 4)}`)
  expect(await stop(url, '"pacts": [""]')).toBe(`${at}"pacts": [""]: expected some text`)
  expect(readdirSync(home).toSorted()).toEqual(['cut.json', 'inner', 'test.repl'])
  const one = fork('"cache": "off", "chain": 1')
  expect((await test(`${one}(expect "chain" "1" (at "chain-id" (chain-data)))`)).code).toBe(0)
  const rows = fork('"cache": "off", "table-rows": 1')
  expect((await test(`${rows}(free.fork-token.names)`)).out).toContain('has 2 rows, more than')
})

it('files and threads share the pin of env-fork, and only the file that lacks something stops', async () => {
  const { fork, test, file, proxy } = await workplace()
  const [second, plain] = [
    file('second.repl', `${fork().replace('{', '{"cache": "off", ').replace(', "cache": "off"}', '}')}${BALANCE}`),
    file('plain.repl', '(expect "n" 1 1)'),
  ]
  proxy.manner = async ({ body }, forward) => {
    return body?.includes('keys free.fork-token') === true ? { status: 400, body: 'no such luck' } : forward()
  }
  const lacking = `${fork()}${BALANCE}\n(expect-failure "not caught" (free.fork-token.names))\n(expect "never" 1 1)`
  const { out, err, code } = await test(lacking, [second, plain, '--jobs', '2'])
  expect(endIn(out)).toMatch(/^test\.repl:3:1: env-fork: the forked node \S+ refuses .*no such luck/)
  expect(out).toMatch(/^FAIL test\.repl {2}1 test, ended early /m)
  expect(out).toMatch(/second\.repl {2}1 test .*\n.*plain\.repl {2}1 test .*\n3 passed, 1 failed, .*\n$/)
  expect(err.match(/fork of/g)).toHaveLength(1)
  expect(code).toBe(1)
  proxy.manner = async () => ({ status: 200, body: '{}' })
  const gone = await test(`(expect-failure "not caught" ${fork().replace(/"cut": \d+, /, '')})`)
  expect(endIn(gone.out)).toMatch(/^test\.repl:1:1: env-fork: \S+ is not a chainweb node: .*\{\}/)
})

it('env-fork yields to --fork, with a message', async () => {
  const { fork, test, proxy, height } = await workplace()
  const more = `${BALANCE} (free.fork-token.balance "bob")`
  const options = ['--fork', proxy.url, '--fork-cut', String(height), '--fork-cache', 'off', '--fork-limit', '1000/s']
  const { out, code, err } = await test(`(env-fork "http://127.0.0.1:1")\n${more}`, options)
  expect(out.split('\n')[1]).toBe(
    '  WARNING test.repl:1:1: the fork of the command line replaces env-fork http://127.0.0.1:1',
  )
  expect(code).toBe(0)
  // Both ways ask as often.
  const [requests] = /requests to .*/.exec(err) ?? []
  expect((await test(`${fork()}${more}`)).err).toContain(requests)
})
