/** The commands that talk to contracts: their arguments and options. */
import type { Command } from 'commander'
import { balanceOptions, localOptions, resultOptions, sendOptions, transferOptions } from './options.ts'
import type { Commands, Configure } from './program.ts'

/** Adds them to the program. */
export function addWalletCommands(program: Command, commands: Commands, configured: Configure): void {
  const local = program.command('local <code>')
  local.description('run code on a node, and print its value: nothing is written, nothing is paid')
  configured(local, localOptions, (config, [code]) => commands.local(code, config))

  const balance = program.command('balance [account]')
  balance.description('show the coins of an account on every chain; without ACCOUNT, of the one that newcut mine pays')
  configured(balance, balanceOptions, (config, [account]) => commands.balance(account, config))

  const send = program.command('send <code>')
  send.description('sign code (or a file of it), send it to a node, and wait for the result')
  configured(send, sendOptions, (config, [code]) => commands.send(code, config))

  const transfer = program.command('transfer [arguments...]').usage('[options] [FROM] TO AMOUNT')
  transfer.description(
    'move coins to an account, on a chain or between chains; without FROM, from the account of the key',
  )
  configured(transfer, transferOptions, (config, args) => commands.transfer(args, config))

  const result = program.command('result <request-key>')
  result.description('wait for the result of a command that was sent, and print it')
  configured(result, resultOptions, (config, [key]) => commands.result(key, config))
}
