/** The shape of cases and situations as JSON schemas, which editors and other programs read. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CaseFile, ownCases } from '../../src/client/conformance/case-file.ts'
import { SituationFile } from '../../src/client/conformance/clients/situation-file.ts'

const folder = ownCases()

/** A schema as its file has it. */
function fileText(title: string, schema: unknown): string {
  const head = { $schema: 'https://json-schema.org/draft/2020-12/schema', title }
  return `${JSON.stringify({ ...head, ...(schema as object) }, null, 2)}\n`
}

describe('the schema', () => {
  it.each([
    ['cases', 'Cases that judge a node', CaseFile],
    ['situations', 'Situations that judge a client', SituationFile],
  ])('the schema of %s is the one that the reader uses', async (name, title, schema) => {
    await expect(fileText(title, schema)).toMatchFileSnapshot(join(folder, 'schema', `${name}.json`))
  })

  it.each([
    ['.', './schema/cases.json'],
    ['clients', '../schema/situations.json'],
  ])('every file in %s names its schema', (below, schema) => {
    const names = readdirSync(join(folder, below)).filter((name) => name.endsWith('.json'))
    const wrong = names.filter((name) => JSON.parse(readFileSync(join(folder, below, name), 'utf8')).$schema !== schema)
    expect(names.length).toBeGreaterThan(5)
    expect(wrong).toEqual([])
  })

  it('the schema describes every field of a step', () => {
    const steps = JSON.parse(fileText('', CaseFile)).properties.cases.items.properties.steps.items.properties
    expect(
      Object.entries(steps).filter(([, step]) => (step as { readonly description?: string }).description === undefined),
    ).toEqual([])
  })
})
