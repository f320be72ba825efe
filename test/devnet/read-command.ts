/** Signed commands as the node reads them; each must be readable. */
import type { Command } from '../../src/devnet/command/command.ts'
import { CommandFault, readCommand } from '../../src/devnet/command/read.ts'
import { type Transaction, transactionOf } from '../../src/devnet/mempool/transaction.ts'
import type { Signed } from './command.ts'

export function commandOf({ hash, sigs, cmd }: Signed): Command {
  const command = readCommand({ hash, sigs: [...sigs], cmd })
  if (command instanceof CommandFault) throw new Error(command.message)
  return command
}

/** The command as a block stores it. */
export const inPayload = ({ hash, sigs, cmd }: Signed) => ({
  command: commandOf({ hash, sigs, cmd }),
  bytes: Buffer.from(JSON.stringify({ hash, sigs, cmd })),
})

/** The command as the mempool stores it. */
export const pendingOf = (signed: Signed): Transaction => transactionOf(commandOf(signed))
