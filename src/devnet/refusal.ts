/** An answer with an HTTP status other than success, from parts of the node that know nothing of HTTP otherwise. */
export interface Refusal {
  readonly status: number
  readonly message: string
}
