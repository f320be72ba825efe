/** The commands that talk to contracts: their arguments, and examples for their help. */
import type { Command } from 'commander'
import { balanceOptions, localOptions, resultOptions, sendOptions, transferOptions } from './options.ts'
import type { Commands, Configure } from './program.ts'

/** Adds them to the program. */
export function addWalletCommands(program: Command, commands: Commands, configured: Configure): void {
  const local = program.command('local <code>')
  local.description('run code on a node, and print its value: nothing is written, nothing is paid')
  configured(local, localOptions, (config, [code]) => commands.local(code, config))
  addExamples(local, [
    `newcut local '(coin.get-balance "sender00")'`,
    `newcut local '(read-integer "n")' --data '{"n": 1}' --chain 3`,
  ])

  const balance = program.command('balance [account]')
  balance.description('show the coins of an account on every chain; without ACCOUNT, of the one that newcut mine pays')
  configured(balance, balanceOptions, (config, [account]) => commands.balance(account, config))
  addExamples(balance, ['newcut balance sender00', 'newcut balance --config miner.yaml --watch'])

  const send = program.command('send <code>')
  send.description('sign code (or a file of it), send it to a node, and wait for the result')
  configured(send, sendOptions, (config, [code]) => commands.send(code, config))
  addExamples(send, [
    `newcut send '(+ 1 2)' --key sender00`,
    `newcut send token.pact --key keys.yaml --data @keysets.json --gas-limit 60000`,
    `newcut send '(coin.transfer "sender00" "sender01" 1.5)' --key sender00 \\`,
    `    --cap '(coin.GAS)' --cap '(coin.TRANSFER "sender00" "sender01" 1.5)'`,
  ])

  const transfer = program.command('transfer [arguments...]').usage('[options] [FROM] TO AMOUNT')
  transfer.description(
    'move coins to an account, on a chain or between chains; without FROM, from the account of the key',
  )
  configured(transfer, transferOptions, (config, args) => commands.transfer(args, config))
  addExamples(transfer, [
    'newcut transfer k:KEY 1.5 --key sender00',
    'newcut transfer sender00 k:KEY 1.5 --key sender00 --chain 0 --to-chain 3',
    'newcut transfer --continue REQUESTKEY --key sender00',
  ])

  const result = program.command('result <request-key>')
  result.description('wait for the result of a command that was sent, and print it')
  configured(result, resultOptions, (config, [key]) => commands.result(key, config))
  addExamples(result, ['newcut result REQUESTKEY', 'newcut result REQUESTKEY --chain 0 --no-wait --json'])
}

function addExamples(command: Command, lines: readonly string[]): void {
  command.addHelpText('after', `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}`)
}
