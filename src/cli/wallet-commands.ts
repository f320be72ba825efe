/** The commands that talk to contracts: their words, options and examples. */
import type { Config } from './config.ts'
import { balanceOptions, localOptions, resultOptions, sendOptions, transferOptions } from './options.ts'
import type { Commands } from './program.ts'

/** A command as the command line knows it. */
export interface WalletCommand {
  /** Name and arguments. */
  readonly syntax: string
  readonly description: string
  /** Command lines for the help. */
  readonly examples: readonly string[]
  readonly table: Readonly<Record<string, unknown>>
  readonly run: (config: Config<never>, args: readonly string[]) => Promise<number>
}

/** In the order of the help. */
export function walletCommands(commands: Commands): WalletCommand[] {
  return [
    {
      syntax: 'local <code>',
      description: 'run code on a node, and print its value; nothing is written, nothing paid',
      examples: [
        'newcut local \'(coin.get-balance "sender00")\'',
        'newcut local \'(at "n" (read-msg))\' --data \'{"n": 1}\' --chain 3',
      ],
      table: localOptions,
      run: (config: Config<typeof localOptions>, [code]) => commands.local(code, config),
    },
    {
      syntax: 'balance [account]',
      description: 'coins of an account on every chain; without an account, of the one that newcut mine pays',
      examples: ['newcut balance sender00', 'newcut balance --config miner.yaml --watch'],
      table: balanceOptions,
      run: (config: Config<typeof balanceOptions>, [account]) => commands.balance(account, config),
    },
    {
      syntax: 'send <code>',
      description: 'sign code, or that of a file, send it to a node, and wait for the result',
      examples: [
        "newcut send '(+ 1 2)' --key sender00",
        "newcut send token.pact --key keys.yaml --chain 1 --gas-limit 60000 --cap '(coin.GAS)'",
      ],
      table: sendOptions,
      run: (config: Config<typeof sendOptions>, [code]) => commands.send(code, config),
    },
    {
      syntax: 'transfer [from-to-amount...]',
      description: 'move coins: [FROM] TO AMOUNT; without FROM, from the account of the key',
      examples: [
        'newcut transfer k:KEY 1.5 --key sender00',
        'newcut transfer sender00 k:KEY 1.5 --key sender00 --chain 0 --to-chain 3',
        'newcut transfer --continue REQUESTKEY --key sender00',
      ],
      table: transferOptions,
      run: (config: Config<typeof transferOptions>, args) => commands.transfer(args, config),
    },
    {
      syntax: 'result <request-key>',
      description: 'wait for the result of a command that was sent, and print it',
      examples: ['newcut result REQUESTKEY --chain 0', 'newcut result REQUESTKEY --no-wait --json'],
      table: resultOptions,
      run: (config: Config<typeof resultOptions>, [key]) => commands.result(key, config),
    },
  ]
}
