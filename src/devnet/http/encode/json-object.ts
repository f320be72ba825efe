/** Joins JSON texts to an object. Values that are texts already keep their spelling, with all digits of their numbers. */
export class JsonObjectWriter {
  readonly #members: string[] = []

  /** Adds the properties of a value, as JSON.stringify writes them. */
  fields(values: object): this {
    return this.members(JSON.stringify(values))
  }

  /** Adds a property. @param json JSON text of its value */
  raw(name: string, json: string): this {
    this.#members.push(`${JSON.stringify(name)}:${json}`)
    return this
  }

  /** Adds all properties of an object. @param json JSON text of the object */
  members(json: string): this {
    const inner = json.trim().slice(1, -1)
    if (inner !== '') this.#members.push(inner)
    return this
  }

  get text(): string {
    return `{${this.#members.join(',')}}`
  }
}
