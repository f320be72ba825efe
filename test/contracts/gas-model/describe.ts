/** Prints a program with its transactions, for people. */
import { printForms } from './program/print.ts'
import type { Data, Program, Transaction } from './program/tree.ts'

export function describeProgram({ areResultsChecked, transactions }: Program): string {
  const rules = areResultsChecked ? 'Types of results are checked.' : 'Types of results are not checked.'
  return [rules, ...transactions.map(transactionText)].join('\n')
}

function transactionText({ run, signers, data }: Transaction, number: number): string {
  const what =
    'forms' in run
      ? printForms(run.forms)
      : `${run.rollback ? 'rolls back' : 'continues with'} step ${run.step} of the pact of transaction ${run.startedBy}\n`
  const signed = signers.map(({ key, capabilities }) => {
    const scope = capabilities.map(({ name, args }) => `(${name} ${args.map(dataText).join(' ')})`)
    return `${key.slice(0, 8)}${scope.length === 0 ? '' : ` for ${scope.join(' ')}`}`
  })
  const fields = data.map(([field, value]) => `${field}: ${dataText(value)}`)
  return `; transaction ${number}; signers ${signed.join(', ') || 'none'}; data {${fields.join(', ')}}\n${what}`
}

function dataText(data: Data): string {
  if (typeof data === 'string') return JSON.stringify(data.length > 20 ? `${data.slice(0, 8)}...` : data)
  if (typeof data !== 'object') return String(data)
  if ('decimal' in data) return data.decimal
  if ('list' in data) return `[${data.list.map(dataText).join(', ')}]`
  return `{${data.object.map(([field, value]) => `${field}: ${dataText(value)}`).join(', ')}}`
}
