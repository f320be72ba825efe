/** Parameters and purpose of natives and forms, for hover and completion. */

export interface NativeText {
  /** A call, as it is typed. */
  readonly call: string
  readonly purpose: string
}

/** Lines `call | purpose`. The first word of a call is the name. */
const FORMS = `
(if condition then else) | one of two values
(and a b) | true if both are; b is evaluated only if a is true
(or a b) | true if one is; b is evaluated only if a is false
(cond (test value) ... default) | the value of the first test that is true
(let ((name value) ...) body ...) | names values for the body; later values see earlier names
(let* ((name value) ...) body ...) | as let
(lambda (parameter ...) body ...) | a function without a name
(do form ...) | evaluates forms in order; the value of the last one
(suspend form) | a function without parameters that evaluates the form
(pure form) | evaluates code that may not write
(error message) | fails with a message, which try catches
(enforce condition message) | fails with the message unless the condition is true
(enforce-one message [test ...]) | true if one of the tests passes; fails with the message otherwise
(try default form) | the form, or the default if it fails; neither writes
(with-capability (CAPABILITY ...) body ...) | grants a capability of this module while the body runs
(create-user-guard (function ...)) | a guard that passes if the function does
(with-read table key {"field" := name} body ...) | reads a row, and names its fields for the body
(with-default-read table key default {"field" := name} body ...) | as with-read; the default stands for a missing row
(bind object {"field" := name} body ...) | names fields of an object for the body
(resume {"field" := name} body ...) | names the fields that the step before has yielded
(step form) | a step of a defpact
(step-with-rollback form rollback) | a step of a defpact that can be taken back
`

const NUMBERS = `
(+ a b) | sum of numbers; texts, lists and objects are joined
(- a b) | difference; with one argument, the negation
(negate n) | negation
(* a b) | product
(/ a b) | quotient; of integers, rounded down
(mod a b) | remainder of integers
(^ a b) | power
(abs n) | absolute value
(dec n) | integer as a decimal
(round n places) | rounded to the nearest, halves to even
(floor n places) | rounded down
(ceiling n places) | rounded up
(sqrt n) | square root
(ln n) | natural logarithm
(log base n) | logarithm to a base
(exp n) | power of e
(& a b) | bitwise and
(| a b) | bitwise or
(xor a b) | bitwise exclusive or
(~ n) | bitwise complement
(shift n bits) | shifts to the left, or to the right by negative bits
(= a b) | whether values are equal
(!= a b) | whether values differ
(< a b) | whether a is less
(<= a b) | whether a is less or equal
(> a b) | whether a is greater
(>= a b) | whether a is greater or equal
(not a) | true for false
(not? f x) | whether the function is false for the value
(and? f g x) | whether both functions are true for the value
(or? f g x) | whether one of the functions is true for the value
`

const LISTS = `
(where field test object) | whether a function is true for a field
(length x) | number of characters, items or fields
(take n x) | the first items; the last ones for a negative n; fields of an object by a list
(drop n x) | all but the first items; all but the last ones for a negative n
(reverse list) | items from last to first
(sort list) | sorted items; with a list of fields first, sorted objects
(make-list n value) | a list of equal items
(enumerate from to step) | integers from the first to the last
(contains x collection) | whether a list has an item, an object a field, a text a part
(distinct list) | items without repetitions
(at key collection) | a field of an object, or an item of a list by its position from 0
(remove field object) | the object without a field
(map f list) | the results of a function for all items
(filter f list) | the items for which a function is true
(fold f start list) | combines all items, from a first value on
(zip f a b) | the results of a function for pairs of items
(compose f g x) | g of f of the value
(identity x) | the value itself
(constantly x y) | the first value
(format text [value ...]) | the text with values in place of each {}
(concat [text ...]) | joined texts
(show x) | a value as text
(str-to-list text) | the characters of a text
(str-to-int base text) | integer of a text in base 2 to 16, or 64
(int-to-str base n) | text of an integer in base 2 to 16, or 64
(is-charset charset text) | whether all characters are of CHARSET_ASCII or CHARSET_LATIN1
(base64-encode text) | base64url of a text
(base64-decode text) | text of base64url
(typeof x) | the type of a value as text
CHARSET_ASCII | the characters of ASCII, for is-charset
CHARSET_LATIN1 | the characters of Latin-1, for is-charset
`

const TIMES_AND_HASHES = `
(time text) | time of a text such as 2026-01-31T12:00:00Z
(parse-time format text) | time of a text in a format such as %F
(format-time format time) | text of a time in a format
(add-time time seconds) | a later time
(diff-time a b) | seconds from b to a
(minutes n) | minutes in seconds, for add-time
(hours n) | hours in seconds, for add-time
(days n) | days in seconds, for add-time
(hash x) | BLAKE2b-256 of a value, in base64url
(hash-keccak256 [base64 ...]) | Keccak-256 of joined pieces
(hash-poseidon n ...) | Poseidon hash of up to 8 integers
(poseidon-hash-hack-a-chain n ...) | as hash-poseidon
(point-add group p q) | sum of two points of BN254
(scalar-mult group p n) | multiple of a point of BN254
(pairing-check [p ...] [q ...]) | whether the product of pairings is one
(verify-spv type proof) | the content of a proof of another chain
(hyperlane-message-id message) | hash of a Hyperlane message
(hyperlane-encode-token-message object) | text of a transfer over Hyperlane
(hyperlane-decode-token-message text) | transfer over Hyperlane of a text
(create-principal guard) | the name of an account that belongs to a guard, such as k:KEY
(validate-principal guard name) | whether a name belongs to a guard
(is-principal name) | whether a name has the form of a principal
(typeof-principal name) | the kind of a principal, such as k:
`

const COMMANDS = `
(read-msg name) | a field of the data of the command; all of it without a name
(read-string name) | a text of the data
(read-integer name) | an integer of the data
(read-decimal name) | a decimal of the data
(read-keyset name) | a keyset of the data
(tx-hash) | hash of the command
(pact-id) | id of the defpact that runs
(chain-data) | chain, block and sender: chain-id, block-height, block-time, prev-block-hash, sender, gas-limit, gas-price
(enforce-guard guard) | fails unless the guard passes
(enforce-keyset keyset) | fails unless the signers satisfy the keyset
(keyset-ref-guard name) | a guard that is the keyset of a name
(require-capability (CAPABILITY ...)) | fails unless the capability is granted
(compose-capability (CAPABILITY ...)) | grants a capability with the one whose body this is
(install-capability (CAPABILITY ...)) | installs a managed capability with its amount
(emit-event (CAPABILITY ...)) | emits a capability as an event
(create-capability-guard (CAPABILITY ...)) | a guard that passes while the capability is granted
(create-capability-pact-guard (CAPABILITY ...)) | likewise, within the same defpact
(create-module-guard name) | a guard that passes in code of this module
(create-pact-guard name) | a guard that passes in the same defpact
(acquire-module-admin module) | makes the command administrator of a module
(enforce-verifier name) | fails unless the verifier has granted the capability around it
(continue (defpact ...)) | runs the same step of a nested defpact
(yield object chain) | hands an object to the next step, on the same chain or another one
`

const TABLES = `
(insert table key object) | adds a row; fails if there is one
(update table key object) | changes fields of a row; fails if there is none
(write table key object) | adds or replaces a row
(read table key fields) | a row, or some fields of it
(create-table table) | creates a table of a loaded module
(keys table) | keys of all rows
(select table fields test) | rows for which a function is true
(fold-db table test f) | results of a function for the rows that pass a test
(describe-table table) | name and module of a table
(define-keyset name keyset) | defines a keyset, or replaces it if its guard passes
(describe-keyset name) | keys and predicate of a keyset
(namespace name) | enters a namespace; the empty text leaves it
(define-namespace name user admin) | defines a namespace
(describe-namespace name) | guards of a namespace
(describe-module name) | name, hash and code of a module
(list-modules) | names of all modules
(static-redeploy module) | stores a module again, in the format of now
`

const TESTS = `
(module name GOVERNANCE member ...) | a module; the capability or keyset decides who may change it
(interface name member ...) | an interface
(use module [name ...]) | imports members of a module
(defun name (parameter ...) body ...) | a function
(defconst name value) | a constant
(expect name wanted got) | passes if both values are equal
(expect-failure name message code) | passes if the code fails with the message
(expect-that name test value) | passes if the function is true for the value
(load file) | runs another file
(env-fork url options) | reads what the file has not written from a live network
(begin-tx name) | begins a transaction
(commit-tx) | ends the transaction, and keeps its writes
(rollback-tx) | ends the transaction, and discards its writes
(print x) | prints a value
(env-data object) | sets the data of commands
(env-keys [key ...]) | sets signers without capabilities
(env-sigs [{"key": key, "caps": [...]} ...]) | sets signers with capabilities
(env-verifiers [...]) | sets verifiers with capabilities
(env-hash hash) | sets the hash of the command
(env-chain-data object) | sets chain and block
(env-exec-config [flag ...]) | sets flags of the language
(env-namespace-policy allows-root guard) | sets who may define namespaces
(env-events clears) | events so far
(env-gas n) | gas used so far, or sets it
(env-milligas) | milligas used so far
(env-set-milligas n) | sets the milligas used
(env-gaslimit n) | sets the limit of gas
(env-gasmodel name) | sets how gas counts: "table" as on the network
(env-gaslog) | starts or shows the log of gas
(env-module-admin module) | makes the tests administrator of a module
(env-enable-repl-natives on) | lets modules use the natives of tests
(env-set-debug-flag flag) | accepted, without effect
(env-stackframe) | functions that run
(test-capability (CAPABILITY ...)) | grants or installs a capability
(continue-pact step rollback id yielded) | runs the next step of a defpact
(pact-state clears) | state of the defpact that ran last
(typecheck name) | fails unless the module is loaded
(verify name) | accepted, without effect
(sig-keyset) | keyset of all signers
(pact-version) | version of the language
(enforce-pact-version min max) | fails for other versions of the language
`

/** Texts by name. */
export const nativeTexts: ReadonlyMap<string, NativeText> = new Map(
  [FORMS, NUMBERS, LISTS, TIMES_AND_HASHES, COMMANDS, TABLES, TESTS]
    .join('')
    .split('\n')
    .flatMap((line) => {
      const bar = line.lastIndexOf(' | ')
      if (bar < 0) return []
      const call = line.slice(0, bar)
      const name = /^\(?([^\s)]+)/.exec(call)?.[1] ?? ''
      return [[name, { call, purpose: line.slice(bar + 3) }] as const]
    }),
)
