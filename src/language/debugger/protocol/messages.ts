/** Messages of the Debug Adapter Protocol, as far as newcut reads them. */

export interface DapRequest {
  readonly seq: number
  readonly type: 'request'
  readonly command: string
  readonly arguments?: Readonly<Record<string, unknown>>
}

/** Arguments of a request, whose types are not checked yet. */
export class RequestArguments {
  readonly #fields: Readonly<Record<string, unknown>>

  constructor(fields: unknown) {
    this.#fields = typeof fields === 'object' && fields !== null ? (fields as Record<string, unknown>) : {}
  }

  text(name: string): string | null {
    const value = this.#fields[name]
    return typeof value === 'string' ? value : null
  }

  number(name: string): number | null {
    const value = this.#fields[name]
    return typeof value === 'number' && Number.isFinite(value) ? value : null
  }

  flag(name: string): boolean | null {
    const value = this.#fields[name]
    return typeof value === 'boolean' ? value : null
  }

  list(name: string): readonly RequestArguments[] {
    const value = this.#fields[name]
    return Array.isArray(value) ? value.map((each) => new RequestArguments(each)) : []
  }

  texts(name: string): readonly string[] {
    const value = this.#fields[name]
    return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
  }

  /** The fields of an object. */
  fields(name: string): readonly (readonly [name: string, value: unknown])[] {
    const value = this.#fields[name]
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []
  }

  within(name: string): RequestArguments {
    return new RequestArguments(this.#fields[name])
  }
}

/** Refuses a request. Its message is for the user. */
export class RequestFault extends Error {}

/** The abilities of the adapter. */
export const CAPABILITIES = {
  supportsConfigurationDoneRequest: true,
  supportsFunctionBreakpoints: true,
  supportsConditionalBreakpoints: true,
  supportsHitConditionalBreakpoints: true,
  supportsLogPoints: true,
  supportsEvaluateForHovers: true,
  supportsStepBack: true,
  supportsRestartRequest: true,
  supportsTerminateRequest: true,
  supportsDataBreakpoints: true,
  supportsBreakpointLocationsRequest: true,
  supportsLoadedSourcesRequest: true,
  supportsExceptionInfoRequest: true,
  exceptionBreakpointFilters: [
    { filter: 'expectations', label: 'Failed expectations', default: true },
    { filter: 'uncaught', label: 'Failures that end the program', default: true },
    { filter: 'all', label: 'All failures, also caught ones', default: false },
  ],
} as const
