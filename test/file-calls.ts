/** The calls of the file system that a program makes, as Node itself records them. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'

interface TraceEvent {
  readonly ph: string
  readonly name: string
}

/** A call that no program under test makes: the mark of its start. */
const MARK = 'mkdtemp'

/**
 * Runs `code` in a process of its own.
 * @param module the module below src that it uses, without its ending; the code has its exports in `module`
 * @returns the names of all calls that it begins, such as `fsync`, in their order
 */
export function fileCallsOf(module: string, code: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'newcut-calls-'))
  try {
    const { href } = new URL(`../dist/src/${module}.js`, import.meta.url)
    const script = `
      const { ${MARK}Sync } = await import('node:fs')
      const module = await import(${JSON.stringify(href)})
      ${MARK}Sync(${JSON.stringify(join(folder, 'mark-'))})
      ${code}
    `
    const trace = join(folder, 'trace.json')
    const tracing = ['--trace-event-categories', 'node.fs', '--trace-event-file-pattern', trace]
    // The writer of coverage makes calls too.
    const env = { ...process.env, NODE_V8_COVERAGE: '' }
    const { status, stderr } = spawnSync(process.execPath, [...tracing, '--input-type=module', '-e', script], { env })
    expect(stderr.toString()).toBe('')
    expect(status).toBe(0)
    const events: readonly TraceEvent[] = JSON.parse(readFileSync(trace, 'utf8')).traceEvents
    const begun = events.filter(({ ph }) => ph.toLowerCase() === 'b').map(({ name }) => name.replace('fs.sync.', ''))
    expect(begun).toContain(MARK)
    return begun.slice(begun.indexOf(MARK) + 1)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
