/** Command lines that are refused before anything runs, with the texts: test/golden/refusals.txt. */
import { describe, expect, it } from 'vitest'
import { commandRows } from '../../src/commands/commands.ts'
import { programOf, runProgram } from '../../src/faces/cli/program.ts'
import { run } from './run.ts'
import { silentContext } from './silent-context.ts'

const KEY = 'ab'.repeat(32)
const NODE = 'http://127.0.0.1:1'

/** Each is refused by the command itself. */
const commandLines = `
keygen a b
keygen --jsn
devices x
devices --measure=1
rigs a b
rigs ftp://x
bench nosuch
bench --json a --json b
bench --compare
contract x.repl --jobs 0
contract x.repl --jobs 257
contract x.repl --jobs many
contract x.repl --seed -1
contract x.repl --seed 4294967296
contract x.repl --runs 0
contract x.repl --runs 1000001
contract x.repl --check --tolerance 10001
contract x.repl --check --tolerance x%
contract x.repl --tolerance 1%
contract x.repl --coverage-min 101
contract x.repl --coverage-min 50,x
contract x.repl --coverage-min 1,2,3
contract x.repl --coverage-all
contract x.repl --coverage-exclude lib
contract x.repl --json --tap
contract x.repl --match a --match b
contract x.repl --fork-cut 5
contract x.repl --fork-chains 0
contract x.repl --fork-cache off
contract x.repl --fork-pact abc
contract x.repl --fork nowhere
contract x.repl --fork ${NODE} --fork-limit 0
fork
fork nowhere
fork ${NODE} x.pact
fork ${NODE} --report report.json
fork ${NODE} --cases 0 --verify
fork ${NODE} --cases many --verify
fork ${NODE} --node-release 1 --verify
fork ${NODE} --network-file nosuch.yaml
fork ${NODE} --fork-chains a
fork ${NODE} --fork-timeout 0
fork ${NODE} --fork-table-rows 0
fork ${NODE} --fork ${NODE}
format
format x.txt
format --check=1 x.pact
lsp x
lsp --fork-cut 5
lsp --fork nowhere
rigs check
rigs check 127.0.0.1:1 --maker nosuch
rigs check 127.0.0.1:1 --timeout 10ms
rigs check 127.0.0.1:1 --timeout soon
rigs check 127.0.0.1:1 --listen-for soon
rigs check 127.0.0.1:1 --user=
rigs check 127.0.0.1:1 --password one --password two
conformance x
conformance --serve port
conformance --serve 65536
conformance --serve 0 --node ${NODE}
conformance --serve 0 --needs mine
conformance --serve 0 --release spec
conformance --serve 0 --timeout 3s
conformance --serve 0 --insecure
conformance --serve 0 --fingerprint ${KEY}
conformance --serve 0 --idle 1ms
conformance --serve 0 --only nosuch
conformance --idle 3s
conformance --timeout 1ms
conformance --timeout soon
conformance --needs nosuch
conformance --needs mine,
conformance --release live
conformance --only nosuch
conformance --network-file nosuch.yaml
inspect a b
inspect --network-file nosuch.yaml
completion
completion csh
blocks --csv --json
blocks --csv --summary
blocks --coin-price 1USD
payouts --http-token 0123456789
payouts --from 127.0.0.1:1 --fleet nats://127.0.0.1:1
payouts --scheme prop --window 3
payouts --key my.key
payouts --nats-domain x
transfer --continue ${'A'.repeat(43)} --to-chain 3
transfer --continue ${'A'.repeat(43)} --receiver-keyset {}
transfer --insecure k:${KEY} 1
send 1 --request x.yaml
send --request x.yaml --chain 3
send --request x.yaml --data {}
send --request x.yaml --gas-limit 3000
send 1 --no-wait --depth 3
result ${'A'.repeat(43)} --no-wait --depth 3
balance x --ca ca.pem
trace ${'A'.repeat(43)} --fingerprint ${KEY}
devnet --check
devnet --check --data nosuch --port 3
devnet --mine --auto-mine on-demand
devnet --mine --no-pow
devnet --data a --state-file b
devnet --fork ${NODE} --mine
devnet --fork ${NODE} --difficulty 5
devnet --fork ${NODE} --no-pow
devnet --fork-cut 5
devnet --threads 3
devnet --log-requests --log-level warn
fleet pause
fleet stop all
fleet --nats-ca ca.pem
lead --nats-ca ca.pem
lead --failback 3s
solve
solve xyz
`
  .trim()
  .split('\n')

it('each command refuses the arguments of the list with its text', async () => {
  const lines: string[] = []
  for (const words of commandLines) {
    const { code, out, err } = await run(words.split(' '))
    const text = (out + err).trimEnd().replace(/"time":"[^"]+"/, '"time":"..."')
    lines.push(words, `  ${code}: ${text.replaceAll('\n', '\n     ')}`)
  }
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('../golden/refusals.txt')
})

describe('flags of every command', () => {
  const { commands } = programOf(silentContext, commandRows, { code: 0, format: 'text' }, null)
  const rows = commandRows.map((row) => ({ ...row, run: () => 0 }))

  /** @returns the error of a command line before its command runs, or an empty text */
  async function refusalOf(words: readonly string[]): Promise<string> {
    let text = ''
    const write = (more: string) => {
      text += more
      return true
    }
    await runProgram(words, { ...silentContext, err: { write } }, rows)
    return text.trimEnd()
  }

  it('the flags of every command refuse a value that makes no sense, and a second value', async () => {
    const lines: string[] = []
    for (const command of commands) {
      const args = command.registeredArguments.flatMap((each) => (each.required ? [each.argChoices?.[0] ?? 'x'] : []))
      const words = [...command.name().split(' '), ...args]
      lines.push(`newcut ${words.join(' ')}`)
      for (const { long, required } of command.options) {
        if (!required) continue
        const texts = [await refusalOf([...words, `${long}=?`]), await refusalOf([...words, `${long}=?`, `${long}=!`])]
        lines.push(`  ${long}=? ${[...new Set(texts)].join(' | ')}`.trimEnd())
      }
    }
    await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('../golden/wrong-values.txt')
  })
})
