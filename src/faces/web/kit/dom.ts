/** Helpers for page elements: lookup by id, writes only on change, creation, keyed lists. */

const SVG = 'http://www.w3.org/2000/svg'
/** List child -> key of its value. */
const keys = new WeakMap<Element, string>()

/**
 * Finds an element.
 * @throws if the page has no such id
 */
export function element<T extends Element = HTMLElement>(id: string): T {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no element ${id}`)
  return found as unknown as T
}

/** Writes text if it changed. Screen readers announce every write to a live region. */
export function write(target: string | Element, text: string): void {
  const found = typeof target === 'string' ? element(target) : target
  if (found.textContent !== text) found.textContent = text
}

/** Creates an element. */
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

/** Creates an SVG element. */
export function draw<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Readonly<Record<string, string | number>> = {},
  ...content: readonly (Node | string)[]
): SVGElementTagNameMap[Name] {
  const made = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, String(value))
  made.append(...content)
  return made
}

/**
 * Updates the children of a list to match `values` in order. A child is kept while its key is present, so selection and
 * focus survive; `update` refreshes it. Keys are unique in their list.
 */
export function fill<V, T extends HTMLElement>(
  list: Element,
  values: readonly V[],
  keyOf: (value: V) => string,
  makeChild: (value: V) => T,
  update: (child: T, value: V) => void = () => undefined,
): void {
  const wanted = new Set(values.map(keyOf))
  const known = new Map<string, T>()
  for (const child of [...list.children]) {
    const key = keys.get(child)
    if (key !== undefined && wanted.delete(key)) known.set(key, child as T)
    else child.remove()
  }
  let next = list.firstElementChild
  for (const value of values) {
    const key = keyOf(value)
    const child = known.get(key) ?? makeChild(value)
    keys.set(child, key)
    update(child, value)
    if (child === next) next = next.nextElementSibling
    else list.insertBefore(child, next)
  }
}
