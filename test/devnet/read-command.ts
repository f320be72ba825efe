/** Signed commands as the node reads them; all of them must be readable. */
import type { Command } from '../../src/devnet/command/command.ts'
import { CommandFault, readCommand } from '../../src/devnet/command/read.ts'
import { type Transaction, transactionOf } from '../../src/devnet/mempool/transaction.ts'
import type { Signed } from './command.ts'

export function commandOf({ hash, sigs, cmd }: Signed): Command {
  const command = readCommand({ hash, sigs: [...sigs], cmd })
  if (command instanceof CommandFault) throw new Error(command.message)
  return command
}

/** As a block takes it. */
export const inPayload = ({ hash, sigs, cmd }: Signed) => ({
  command: commandOf({ hash, sigs, cmd }),
  bytes: Buffer.from(JSON.stringify({ hash, sigs, cmd })),
})

/** As a pool has it. */
export const pendingOf = (signed: Signed): Transaction => transactionOf(commandOf(signed))
