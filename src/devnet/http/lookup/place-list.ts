/** Places in a list, ascending. */
export class PlaceList {
  readonly #places: number[] = []

  get size(): number {
    return this.#places.length
  }

  /** @throws RangeError beyond the end */
  at(index: number): number {
    if (!(index >= 0 && index < this.size)) throw new RangeError(`place ${index} of ${this.size}`)
    return this.#places[index]
  }

  /** Number of places below this one. Takes O(log size). */
  countBelow(place: number): number {
    let low = 0
    let high = this.size
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.at(middle) < place) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Adds a place that is not in the list. */
  add(place: number): void {
    this.#places.splice(this.countBelow(place), 0, place)
  }

  /** Removes a place that is in the list. */
  delete(place: number): void {
    this.#places.splice(this.countBelow(place), 1)
  }
}
