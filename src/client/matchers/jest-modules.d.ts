/** The part of jest that jest.ts needs: its types are in the project of the user. */
declare module '@jest/globals' {
  export const expect: { readonly extend: (matchers: object) => void }
}

declare module 'expect' {
  export interface Matchers<R extends void | Promise<void>> {
    readonly not: Matchers<R>
  }
}
