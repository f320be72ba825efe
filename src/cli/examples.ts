/** Command lines that work as they stand, for the help of each command and the manual page; words in capitals are yours. */
import type { Command } from 'commander'

/** Command -> lines. A line that ends with a backslash goes on in the next. */
export const examples: Readonly<Record<string, readonly string[]>> = {
  newcut: ['newcut mine', 'newcut devnet --auto-mine constant:2s', 'newcut help mine'],
  mine: [
    'newcut mine',
    'newcut mine --blocks 20 --difficulty 10k',
    'newcut mine --node http://127.0.0.1:1848 --public-key KEY',
    'newcut mine --fleet nats://10.0.0.5:4222 --rig garage-1',
  ],
  lead: [
    'newcut lead --public-key KEY',
    'newcut lead --nats nats://10.0.0.5:4222 --node http://10.0.0.5:1848 --public-key KEY --state leader',
  ],
  fleet: ['newcut fleet', 'newcut fleet pause RIG', 'newcut fleet resume all', 'newcut fleet --json'],
  devnet: [
    'newcut devnet',
    'newcut devnet --auto-mine constant:2s --graph petersen',
    `newcut devnet --auto-mine constant:200ms --exec 'newcut balance sender00'`,
    'newcut devnet --mine --data network --log-requests',
  ],
  config: ['newcut config', 'newcut config --threads 2 --gpu none > miner.yaml', 'newcut config --config miner.yaml'],
  solve: [
    'newcut solve TARGET < work.bin',
    'newcut solve TARGET --threads 2 --priority normal < work.bin',
    `newcut mine --engine external --command 'newcut solve'`,
  ],
  blocks: ['newcut blocks', 'newcut blocks --last 10', 'newcut blocks --csv > blocks.csv'],
  local: [
    `newcut local '(coin.get-balance "sender00")'`,
    `newcut local '(read-integer "n")' --data '{"n": 1}' --chain 3`,
  ],
  balance: ['newcut balance sender00', 'newcut balance --config miner.yaml --watch'],
  send: [
    `newcut send '(+ 1 2)' --key sender00`,
    'newcut send token.pact --key keys.yaml --data @keysets.json --gas-limit 60000',
    `newcut send '(coin.transfer "sender00" "sender01" 1.5)' --key sender00 \\`,
    `    --cap '(coin.GAS)' --cap '(coin.TRANSFER "sender00" "sender01" 1.5)'`,
  ],
  transfer: [
    'newcut transfer k:KEY 1.5 --key sender00',
    'newcut transfer sender00 k:KEY 1.5 --key sender00 --chain 0 --to-chain 3',
    'newcut transfer --continue REQUESTKEY --key sender00',
  ],
  result: ['newcut result REQUESTKEY', 'newcut result REQUESTKEY --chain 0 --no-wait --json'],
  inspect: [
    'newcut inspect header.hex',
    `curl -s 'http://127.0.0.1:1848/chainweb/0.0/development/chain/0/header?limit=2' | newcut inspect`,
  ],
  contract: ['newcut contract token.repl', 'newcut contract token.repl sale.repl --json'],
  keygen: ['newcut keygen my.key', 'newcut keygen', 'newcut keygen --json'],
  devices: ['newcut devices', 'newcut devices --measure', 'newcut devices --json'],
  bench: [
    'newcut bench kernels --quick',
    'newcut bench kernels threads --json before.json',
    'newcut bench kernels threads --compare before.json',
  ],
  completion: [
    'source <(newcut completion bash)',
    'source <(newcut completion zsh)',
    'newcut completion fish > ~/.config/fish/completions/newcut.fish',
  ],
}

/** Appends its examples to the help of a command. */
export function addExamples(command: Command): void {
  const lines = examples[command.name()]
  if (lines !== undefined) command.addHelpText('after', `\n${indented('Examples', lines)}`)
}

/** A heading, and lines below it. */
export const indented = (heading: string, lines: readonly string[]): string =>
  `${heading}:\n${lines.map((line) => `  ${line}`).join('\n')}`
