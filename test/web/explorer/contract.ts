/** A contract for tests of the pages: its texts are HTML, its functions fail deep inside. */
import { funded, signed } from '../../devnet/command.ts'
import { NETWORK, type start } from './developers-page.ts'

type Node = Awaited<ReturnType<typeof start>>

/** Text that would run as code where it is not escaped. */
export const HOSTILE = '<img src=x onerror=document.title="pwned"><b>bold</b>'

const quoted = JSON.stringify(HOSTILE)

const SHELF = `(namespace "free")
(module shelf GOVERNANCE
  @doc ${quoted}
  (defcap GOVERNANCE () (enforce false "nobody"))
  (defcap PLACED:bool (title:string price:decimal) @doc "A book came." @event true)
  (defcap LEND:integer (title:string span:integer) @managed span rest true)
  (defun rest:integer (managed:integer requested:integer)
    (enforce (>= managed requested) "not for so long") (- managed requested))
  (defschema book price:decimal owner:guard)
  (deftable books:{book} @doc ${quoted})
  (deftable never:{book})
  (defun place:string (title:string price:decimal owner:guard)
    @doc "Puts a book on the shelf."
    (emit-event (PLACED title price))
    (write books title { "price": price, "owner": owner }))
  (defun lend:string (title:string span:integer)
    (with-capability (LEND title span) "lent"))
  (defun outer (text:string) (inner text))
  (defun inner (text:string)
    (enforce false text))
)
(create-table books)`

const KEYSET = { keys: [funded.publicKey], pred: 'keys-all' }

/** A signed command of `sender00` whose message has the keyset `k`. */
export const command = (code: string) =>
  signed({ gasLimit: 100_000 }, { payload: { exec: { code, data: { k: KEYSET } } } })

export const placed = (title: string) => command(`(free.shelf.place ${JSON.stringify(title)} 2.5 (read-keyset "k"))`)

/** Sends commands of chain 0, and makes the block with them. */
export async function mined(node: Node, ...commands: readonly { readonly hash: string }[]): Promise<void> {
  await node.post(`${NETWORK}/chain/0/pact/api/v1/send`, { cmds: commands })
  await node.order('make-blocks', { 0: 1 })
}

/** Deploys the contract. */
export async function deploy(node: Node): Promise<{ readonly hash: string }> {
  const deployed = command(SHELF)
  await node.order('make-blocks', { 0: 1, 1: 1 })
  await mined(node, deployed)
  return deployed
}
