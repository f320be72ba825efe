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
const refused = text(TextBody, 'a malformed request, or what is wrong with the command')

export const commandOperations = {
  local: {
    ...command,
    id: 'local',
    path: '/chain/{chain}/pact/api/v1/local',
    summary: 'execute a command on this node alone: nothing is written',
    query: LocalQuery,
    body: bodyOf(Command),
    responses: { 200: json(LocalAnswer), 400: refused },
  },
  send: {
    ...command,
    id: 'send',
    path: '/chain/{chain}/pact/api/v1/send',
    summary: 'hand in commands, which the next blocks execute: all of them or none',
    body: bodyOf(SendBody),
    responses: { 200: json(SentKeys, 'request keys'), 400: refused },
  },
  poll: {
    ...command,
    id: 'poll',
    path: '/chain/{chain}/pact/api/v1/poll',
    summary: 'results by request key, of those that have one',
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
      503: text(TextBody, 'too many requests wait'),
      504: { description: 'no result within the time that the node waits' },
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
      400: text(TextBody, 'a malformed request, or why there is no proof'),
    },
  },
  private: {
    ...command,
    id: 'private',
    path: '/chain/{chain}/pact/api/v1/private',
    summary: 'hand in a command for the nodes that it is addressed to',
    body: bodyOf(Command),
    responses: { 200: json(SentKeys, 'its request key'), 400: refused },
  },
} as const satisfies Record<string, Operation>
