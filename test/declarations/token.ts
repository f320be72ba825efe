/** A network with a token in a namespace, and the files of its contracts. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Devnet, startDevnet } from '../../src/compose/devnet.ts'
import { run } from '../cli/run.ts'

/** A library, a token that implements an interface and uses the library, in one namespace. */
const LIBRARY = `(namespace "free")
(interface quoting "Prices." (defun quote:decimal (amount:decimal) "A price."))
(module pricing G
  (defcap G () true)
  (defcap PRICED:bool (rate:decimal) "A price was asked for." @event true)
  (defschema rate "A price and its time." value:decimal at:time tags:[string])
  (defconst BASE 1.5)
  (defun quoted:decimal (amount:decimal) (* amount BASE)))`
const TOKEN = `(namespace "free")
(module token G
  @doc "A token.\\nOf two lines, with */ in it."
  (implements free.quoting)
  (defcap G () true)
  (defschema account balance:decimal guard:guard nonce:integer)
  (defschema order "An order." owner:string rate:object{free.pricing.rate} lots:[integer])
  (deftable accounts:{account} "Accounts.")
  (defconst NAME:string "tok" "Its name.")
  (defcap TRANSFER:bool (sender:string receiver:string amount:decimal) "A transfer." @managed amount TRANSFER-mgr true)
  (defcap PLACED (order:object{order}) @event true)
  (defun TRANSFER-mgr:decimal (managed:decimal requested:decimal) managed)
  (defun quote:decimal (amount:decimal) "A price." (free.pricing.quoted amount))
  (defun open:string (account:string guard:guard since:time) "Opens an account." account)
  (defun echo:integer (new:integer flag:bool) (if flag new 0))
  (defun place:object{order} (order:object{order}) order)
  (defun pay (to:module{fungible-v2} who:string amount:decimal) (coin.transfer who who amount))
  (defpact swap:string (a:string b) (step a) (step "done")))`

/** Writes library.pact and token.pact into the folder, and deploys them on a network. */
export async function startTokenNetwork(folder: string): Promise<Devnet> {
  const devnet = await startDevnet({ port: 0, graph: 'pair', autoMine: { kind: 'constant', blockTimeMs: 100 } })
  for (const [name, text] of [['library', LIBRARY] as const, ['token', TOKEN] as const]) {
    const file = join(folder, `${name}.pact`)
    writeFileSync(file, text)
    const sent = await run(['send', file, '--key', 'sender00', '--gas-limit', '150000'], { NEWCUT_NODE: devnet.url })
    expect(sent.code, sent.err).toBe(0)
  }
  return devnet
}
