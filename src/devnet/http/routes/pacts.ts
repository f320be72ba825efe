/** Pacts in blocks, and the accounts whose keys a page may sign with. */
import { developmentAccounts } from '#ground/chain/development-accounts.ts'
import { JSON_TYPE } from '#ground/schema/operation.ts'
import { type KnownAccounts, pactOperations } from '#ground/schema/pacts.ts'
import { type PhraseAccount, phraseAccounts } from '../../control/phrase-accounts.ts'
import { sendJson, writeRefusal } from '../app.ts'
import { PactIndex } from '../lookup/pact-index.ts'
import { onePactText, type PactNode, pactPageText } from '../lookup/pacts.ts'
import { refusalOf } from '../refusal.ts'
import type { Router } from '../router.ts'

/** @param phraseCount number of accounts of the phrase that the node has funded */
export function addPactRoutes(router: Router, node: PactNode, phraseCount: number): void {
  const index = new PactIndex(node)
  // Derived on the first request: this takes a while.
  let funded: readonly PhraseAccount[] | null = null
  router.serve(pactOperations.devnetPacts, async ({ query }, reply) => {
    try {
      const { pactId } = query
      const text = pactId === undefined ? pactPageText(node, index, query) : await onePactText(node, index, pactId)
      return sendJson(reply, JSON_TYPE, text)
    } catch (error) {
      const refusal = refusalOf(error)
      if (refusal === null) throw error
      return writeRefusal(reply, refusal)
    }
  })
  router.serve(pactOperations.devnetAccounts, (_call, reply) => {
    funded ??= phraseAccounts(phraseCount)
    const known = [...developmentAccounts, ...funded]
    const accounts = known.map(({ account, publicKey, secretKey }) => ({ account, publicKey, secretKey }))
    return sendJson(reply, JSON_TYPE, JSON.stringify({ accounts } satisfies KnownAccounts))
  })
}
