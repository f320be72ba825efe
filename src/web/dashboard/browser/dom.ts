/** Elements of the page: found by id, written only when something changed, made from values. */

const SVG = 'http://www.w3.org/2000/svg'

/** Throws for an id that dashboard.html does not have. */
export function element<T extends Element = HTMLElement>(id: string): T {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no element ${id}`)
  return found as unknown as T
}

/** Live regions speak whenever they are written: the same text is not written again. */
export function write(target: string | Element, text: string): void {
  const found = typeof target === 'string' ? element(target) : target
  if (found.textContent !== text) found.textContent = text
}

export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  text = '',
  attributes: Readonly<Record<string, string>> = {},
): HTMLElementTagNameMap[Name] {
  const created = document.createElement(name)
  if (text !== '') created.textContent = text
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, value)
  return created
}

/** An SVG element. */
export function draw<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string | number>> = {},
  text = '',
): SVGElementTagNameMap[Name] {
  const created = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) created.setAttribute(key, String(value))
  if (text !== '') created.textContent = text
  return created
}

/** Items of a list by key: kept while their key is there, in the order of the keys. */
export class Items<T extends HTMLElement> {
  readonly #parent: Element
  readonly #make: (key: string) => T
  readonly #items = new Map<string, T>()

  constructor(parent: Element, makeItem: (key: string) => T) {
    this.#parent = parent
    this.#make = makeItem
  }

  /** Each value under its key, which is unique. */
  show<V>(values: readonly V[], keyOf: (value: V) => string, fill: (item: T, value: V) => void): void {
    const keys = new Set(values.map(keyOf))
    for (const [key, item] of this.#items) {
      if (keys.has(key)) continue
      item.remove()
      this.#items.delete(key)
    }
    let before: Element | null = this.#parent.firstElementChild
    for (const value of values) {
      const key = keyOf(value)
      const item = this.#items.get(key) ?? this.#make(key)
      this.#items.set(key, item)
      fill(item, value)
      if (item === before) before = before.nextElementSibling
      else this.#parent.insertBefore(item, before)
    }
  }
}
