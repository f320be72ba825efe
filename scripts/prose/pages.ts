/** Reads the visible texts out of web pages. */
import type { Line } from './blocks.ts'

/** Text between tags, and the attributes that people read or hear. */
const TEXT = />([^<>]+)(?=<)|\b(?:aria-label|alt|title|placeholder|content)="([^"]*)"/g

/** All texts of more than one word, in order. */
export function pageTexts(page: string): Line[] {
  const visible = page.replace(/<!--[\s\S]*?-->|<(script|style)\b[\s\S]*?<\/\1>/g, (part) =>
    part.replace(/[^\n]/g, ' '),
  )
  return [...visible.matchAll(TEXT)].flatMap(({ 0: whole, 1: inside, 2: attribute, index }) => {
    const text = inside ?? attribute
    if (!/\S\s+\S/.test(text)) return []
    const start = index + whole.indexOf(text) + (/^\s*/.exec(text)?.[0].length ?? 0)
    return [{ line: visible.slice(0, start).split('\n').length, text: text.trim() }]
  })
}
