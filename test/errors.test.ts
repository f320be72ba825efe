import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { errorGroups } from '../scripts/docs/error-groups.ts'
import { errorsDocument } from '../scripts/docs/errors.ts'
import {
  asNewcutError,
  describeError,
  type ErrorCode,
  errorCodes,
  FormatError,
  NewcutError,
} from '../src/ground/base/errors.ts'
import { exitCodeOf, exitCodes } from '../src/ground/base/exit-codes.ts'

it('ERRORS.md matches the tables; npm run docs:tables rewrites it', async () => {
  await expect(errorsDocument()).toMatchFileSnapshot(fileURLToPath(new URL('../docs/ERRORS.md', import.meta.url)))
})

it('every error code is in one group, with a remedy', () => {
  const listed = Object.values(errorGroups).flatMap((members) => Object.keys(members))
  expect(listed.toSorted()).toEqual(Object.keys(errorCodes).toSorted())
})

it('no exit code is one of Node.js', () => {
  expect(Object.keys(exitCodes).filter((code) => Number(code) > 2 && Number(code) < 20)).toEqual([])
})

it('every error code has an exit code of the table other than 0', () => {
  const codes = Object.keys(errorCodes).map((code) => exitCodeOf(code as ErrorCode))
  expect(codes.filter((code) => code === 0 || !(code in exitCodes))).toEqual([])
})

it('any other thrown value is an internal error that names its place', () => {
  const error = asNewcutError(new TypeError('x is not a function'))
  expect(error).toMatchObject({ code: 'INTERNAL', message: 'internal error: x is not a function' })
  expect(error.hint).toMatch(/^this is a bug in newcut at errors\.test\.ts:\d+:\d+(, [^ ]+)*: please report it$/)
  expect(asNewcutError('plain')).toMatchObject({ code: 'INTERNAL', message: 'internal error: plain' })
  const ours = new NewcutError('BAD_INPUT', 'no')
  expect(asNewcutError(ours)).toBe(ours)
})

it('describeError joins an error and its causes in one line, each once', () => {
  const root = new Error('connect ECONNREFUSED')
  const error = new NewcutError('NODE_UNREACHABLE', 'no answer\nfrom the node', {
    cause: new Error('fetch', { cause: root }),
  })
  expect(describeError(error)).toBe('no answer from the node: fetch: connect ECONNREFUSED')
  expect(describeError('plain')).toBe('plain')
})

it('a cause whose code is already named is not described again', () => {
  const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
  const error = new NewcutError('NODE_UNREACHABLE', 'node: connection refused (ECONNREFUSED)', { cause })
  expect(describeError(error)).toBe('node: connection refused (ECONNREFUSED)')
})

it('FormatError names the field and its offset', () => {
  const error = new FormatError('target', 158, 'too short')
  expect(error).toMatchObject({ code: 'BAD_FORMAT', field: 'target', offset: 158 })
  expect(error.message).toBe('target at offset 158: too short')
})
