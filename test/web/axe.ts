/** Findings of axe-core on a page in a browser. */
import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { requireJudge } from '../judge.ts'

interface Finding {
  readonly id: string
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

const axe = readFileSync(requireJudge.resolve('axe-core/axe.min.js'), 'utf8')

/** Findings of axe-core, in a line each. */
export async function findingsIn(page: Page): Promise<string[]> {
  // The policy of the page allows no script from elsewhere, but the test may evaluate one.
  await page.evaluate(axe)
  const { violations } = await page.evaluate<{ violations: Finding[] }>('axe.run(document)')
  return violations.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary}`))
}
