/** Lookups of what blocks and contracts hold: everybody may read them, like the blocks themselves. */
import type { FastifyReply } from 'fastify'
import { lookupOperations } from '#ground/schema/lookup.ts'
import { JSON_TYPE, type Operation } from '#ground/schema/operation.ts'
import { sendJson, writeRefusal } from '../app.ts'
import { Contracts, type ContractsSource } from '../lookup/contracts.ts'
import { eventPageText } from '../lookup/events.ts'
import { accountText, searchNode } from '../lookup/search.ts'
import { type FindingNode, transactionPage, transactionText } from '../lookup/transactions.ts'
import { RequestRefused, refusalOf, unknownChain } from '../refusal.ts'
import type { RoutedCall, Router } from '../router.ts'

export function addLookupRoutes(router: Router, node: FindingNode & ContractsSource): void {
  const contracts = new Contracts(node)
  const { chainIds } = node.chains
  const serve = <const O extends Operation>(
    operation: O,
    answer: (query: RoutedCall<O>['query']) => string | Promise<string>,
  ) => {
    router.serve(operation, async ({ query }, reply) => {
      try {
        const { chain } = query as { readonly chain?: number }
        if (chain !== undefined && !chainIds.includes(chain)) {
          throw new RequestRefused(404, unknownChain(String(chain), chainIds.length).message)
        }
        return sendJson(reply, JSON_TYPE, await answer(query))
      } catch (error) {
        return answerError(reply, error)
      }
    })
  }
  serve(lookupOperations.devnetTransactions, (query) => JSON.stringify(transactionPage(node, query)))
  serve(lookupOperations.devnetTransaction, ({ requestKey }) => transactionText(node, requestKey))
  serve(lookupOperations.devnetEvents, (query) => eventPageText(node, query))
  serve(lookupOperations.devnetModules, async ({ chain = 0 }) => JSON.stringify(await contracts.list(chain)))
  serve(lookupOperations.devnetModule, async ({ chain = 0, name }) =>
    JSON.stringify(await contracts.module(chain, name)),
  )
  serve(lookupOperations.devnetAccount, ({ account }) => accountText(node, account))
  serve(lookupOperations.devnetSearch, async ({ text }) => JSON.stringify(await searchNode(node, text)))
  serve(lookupOperations.devnetTable, ({ chain = 0, ...query }) => contracts.table(chain, query))
}

function answerError(reply: FastifyReply, error: unknown): FastifyReply {
  const refusal = refusalOf(error)
  if (refusal === null) throw error
  return writeRefusal(reply, refusal)
}
