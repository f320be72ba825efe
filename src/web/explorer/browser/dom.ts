/** Elements of the page: found, made, and filled without being written more often than they change. */

export function element<T extends Element = HTMLElement>(id: string): T {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no element ${id}`)
  return found as unknown as T
}

export function write(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text
}

/** A new element with text and attributes. */
export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string>> = {},
  ...content: readonly (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value)
  made.append(...content)
  return made
}

/**
 * Makes the children of a list those of `items`. A child stays as long as its item's key and text stay, so that what is
 * selected or focused in it is not lost.
 */
export function fill<T>(
  list: HTMLElement,
  items: readonly T[],
  keyOf: (item: T) => string,
  childOf: (item: T) => HTMLElement,
): void {
  const known = new Map([...list.children].map((child) => [(child as HTMLElement).dataset.key, child as HTMLElement]))
  const children = items.map((item) => {
    const key = keyOf(item)
    const child = known.get(key) ?? childOf(item)
    child.dataset.key = key
    return child
  })
  for (const [i, child] of children.entries()) {
    if (list.children[i] !== child) list.insertBefore(child, list.children[i] ?? null)
  }
  while (list.children.length > children.length) list.lastElementChild?.remove()
}

/** `12:34:56` in the zone of the visitor. */
export function clockText(ms: number): string {
  return new Date(ms).toLocaleTimeString('en-GB', { hour12: false })
}

/** `1,234,567` */
export const grouped = (value: number) => value.toLocaleString('en')

/** The first characters of a hash, which is shown whole as its title. */
export const shortHash = (hash: string) => `${hash.slice(0, 8)}…`
