/** Endpoints for signed commands: rows of the table of operations (PROTOCOL.md E.3). */
import { Command } from './bodies.ts'
import {
  CommandResult,
  ListenBody,
  LocalAnswer,
  LocalQuery,
  PollAnswer,
  PollBody,
  PollQuery,
  SendBody,
  SentKeys,
  SpvBody,
  SpvProof,
} from './command-bodies.ts'
import { ChainParams, json, None, type Operation, TextBody, text } from './operation.ts'

const command = { method: 'POST', scope: 'network', group: 'command', params: ChainParams, query: None } as const
const bodyOf = <Schema extends Parameters<typeof json>[0]>(schema: Schema) => ({ type: 'application/json', schema })
const refused = text(TextBody, 'a malformed request, or the reason why the command is invalid')

export const commandOperations = {
  local: {
    ...command,
    id: 'local',
    path: '/chain/{chain}/pact/api/v1/local',
    summary: 'execute a command on this node only, without writing anything',
    query: LocalQuery,
    body: bodyOf(Command),
    responses: { 200: json(LocalAnswer), 400: refused },
  },
  send: {
    ...command,
    id: 'send',
    path: '/chain/{chain}/pact/api/v1/send',
    summary: 'submit commands for the next blocks: all are accepted, or none',
    body: bodyOf(SendBody),
    responses: { 200: json(SentKeys, 'request keys'), 400: refused },
  },
  poll: {
    ...command,
    id: 'poll',
    path: '/chain/{chain}/pact/api/v1/poll',
    summary: 'results by request key; keys without a result are absent',
    query: PollQuery,
    body: bodyOf(PollBody),
    responses: { 200: json(PollAnswer) },
  },
  listen: {
    ...command,
    id: 'listen',
    path: '/chain/{chain}/pact/api/v1/listen',
    summary: 'wait for the result of a command',
    body: bodyOf(ListenBody),
    responses: {
      200: json(CommandResult),
      503: text(TextBody, 'too many waiting requests'),
      504: { description: 'no result within the timeout of the node' },
    },
  },
  spv: {
    ...command,
    id: 'spv',
    path: '/chain/{chain}/pact/spv',
    summary: 'prove the result of a command to another chain',
    body: bodyOf(SpvBody),
    responses: {
      200: json(SpvProof, 'the proof'),
      400: text(TextBody, 'a malformed request, or the reason why there is no proof'),
    },
  },
  private: {
    ...command,
    id: 'private',
    path: '/chain/{chain}/pact/api/v1/private',
    summary: 'submit a private command for the nodes that it addresses',
    body: bodyOf(Command),
    responses: { 200: json(SentKeys, 'its request key'), 400: refused },
  },
} as const satisfies Record<string, Operation>
