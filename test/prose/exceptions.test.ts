/** The exceptions of the prose check only shrink. */
import { expect, it } from 'vitest'
import { complaints, shrunk } from '../../scripts/prose/exceptions.ts'
import { countsOf, judgeDocument } from '../../scripts/prose/findings.ts'

const findings = [
  ...judgeDocument('docs/A.md', 'Good.\n\nOf a node.\nWhat is left.'),
  ...judgeDocument('docs/B.md', 'It is waited for.'),
]
const now = { documents: { 'docs/A.md': { opening: 2 }, 'docs/B.md': { stranded: 1 } } }

it('findings are counted by kind, file and rule', () => {
  expect(countsOf(findings)).toEqual({ comments: {}, help: {}, errors: {}, titles: {}, ...now })
})

it('the check accepts exact counts', () => {
  expect(complaints(findings, now)).toEqual([])
})

it('the check names file, line, sentence, words and a better way when there are more findings', () => {
  const allowed = { documents: { 'docs/A.md': { opening: 1 }, 'docs/B.md': { stranded: 1 } } }
  expect(complaints(findings, allowed)).toEqual([
    'docs/A.md: opening (documents): 2 sentences, at most 1 allowed; start with the thing that acts: the function, ' +
      'the node, the miner\n  docs/A.md:3: [Of] Of a node.\n  docs/A.md:4: [What] What is left.',
  ])
})

it('the check allows no findings in a new file', () => {
  expect(complaints(findings, {})).toHaveLength(2)
})

it('the check asks for a smaller list when there are fewer findings, or none in a listed file', () => {
  const gone = { 'docs/A.md': { opening: 3, nonsense: 1 }, 'docs/B.md': { stranded: 1 }, 'docs/C.md': { length: 1 } }
  expect(complaints(findings, { documents: gone })).toEqual(
    ['docs/A.md: opening (documents): 2 left of 3', 'docs/A.md: nonsense (documents): 0 left of 1']
      .concat('docs/C.md: length (documents): 0 left of 1')
      .map((text) => `${text}; make the list smaller: npm run prose -- --shrink`),
  )
})

it('the list of exceptions shrinks, and never grows', () => {
  const allowed = { documents: { 'docs/A.md': { opening: 3, length: 1 }, 'docs/C.md': { length: 1 } } }
  expect(shrunk(allowed, now)).toEqual({
    comments: {},
    documents: { 'docs/A.md': { opening: 2 } },
    help: {},
    errors: {},
    titles: {},
  })
  expect(shrunk({ documents: { 'docs/A.md': { opening: 1 } } }, now).documents).toEqual({ 'docs/A.md': { opening: 1 } })
})
