/** Errors of commands: their arguments and files, and what nodes and miners answer to them. */
import { errorRows } from '#ground/base/errors.ts'

/** Their types are not literals, because the braces in them are not names of values. */
const JSON_EXAMPLE: string = `write JSON such as '{"n": 1}', or @FILE`
const KEYSET_EXAMPLE: string = `write it as '{"keys":["KEY"],"pred":"keys-all"}'`
const OVERRIDE_EXAMPLE: string =
  'such as coin.coin-table:alice={"balance": 5.0}, time=2027-01-01T00:00:00Z or key=PUBLICKEY'

export const commandErrors = errorRows({
  // Arguments that are missing or do not fit together.
  unknownCommand: {
    code: 'BAD_OPTION',
    text: 'config {name}: no such command{guess}',
    hint: 'newcut --help lists all commands',
  },
  noContract: { code: 'BAD_OPTION', text: 'no contract is given', hint: 'newcut types coin --out coin.d.ts' },
  noProjectName: {
    code: 'BAD_OPTION',
    text: 'init takes the NAME of a project: a folder that is new or empty',
    hint: 'newcut init my-contracts',
  },
  badProjectName: {
    code: 'BAD_OPTION',
    text: '{given}: no name for a project: it needs small letters, digits, and - . _ between them',
    hint: 'newcut init {name}',
  },
  projectFolderNotEmpty: {
    code: 'BAD_OUTPUT',
    text: '{given}: the folder is not empty: it has {content}',
    hint: 'name a folder that is new or empty',
  },
  projectFolderIsFile: {
    code: 'BAD_OUTPUT',
    text: '{given}: this is a file, and a project is a folder',
    hint: 'name a folder that is new or empty',
  },
  noRequestFile: { code: 'BAD_OPTION', text: 'no request file is given', hint: 'newcut sign transfer.yaml' },
  codeOrRequest: {
    code: 'BAD_OPTION',
    text: 'send takes either CODE or --request FILE',
    hint: `for example newcut send '(+ 1 2)' --key sender00`,
  },
  transferArguments: {
    code: 'BAD_OPTION',
    text: 'transfer takes [FROM] TO AMOUNT',
    hint: 'for example newcut transfer k:KEY 1.5 --key sender00',
  },
  continuedTransfer: {
    code: 'BAD_OPTION',
    text: '{words}: with --continue, the first step has fixed receiver and amount',
    hint: 'leave the arguments out',
  },
  wrongMatch: {
    code: 'BAD_OPTION',
    text: '--match {text}: not a regular expression: {why}',
    hint: 'a text without slashes matches names that contain it',
  },
  notContractFile: {
    code: 'BAD_OPTION',
    text: 'format takes .pact and .repl files, not {file}{guess}',
    hint: 'newcut format token.pact',
  },
  needlessFile: { code: 'BAD_OPTION', text: '{file} has no effect: it is for --verify', hint: 'add --verify' },
  unknownCase: { code: 'BAD_OPTION', text: '--only {text}: no case has this in its name', hint: 'files: {files}' },
  unknownSituation: {
    code: 'BAD_OPTION',
    text: '--only {text}: no rule and no situation has this in its name',
    hint: 'a run without --only names them all',
  },
  checkWithoutData: {
    code: 'BAD_OPTION',
    text: '--check needs --data DIR, the directory to check',
    hint: 'newcut devnet --data DIR --check',
  },
  mineAndAutoMine: {
    code: 'BAD_OPTION',
    text: '--mine and --auto-mine exclude each other: one needs proof of work, the other makes blocks without it',
    hint: 'give one of them',
  },
  mineWithoutPow: {
    code: 'BAD_OPTION',
    text: '--mine needs proof of work, which --no-pow turns off',
    hint: '--auto-mine makes blocks without proof of work',
  },
  dataAndStateFile: {
    code: 'BAD_OPTION',
    text: '--data and --state-file exclude each other: both keep the network',
    hint: 'give one of them',
  },
  notMinable: {
    code: 'BAD_OPTION',
    text: '--mine needs proof of work, and the network in --data was created with {mode}',
    hint: 'leave out --mine, or create another network in another directory',
  },
  unknownNetwork: {
    code: 'BAD_OPTION',
    text: '--network {name}: newcut has no file of that network{guess}',
    hint: '--network-file describes a network',
  },
  noShell: { code: 'BAD_INPUT', text: '--exec: cannot start a shell: {why}', hint: 'is /bin/sh installed?' },
  rigOfList: { code: 'BAD_OPTION', text: 'list {rig}: list takes no rig', hint: 'leave it out' },
  missingRig: {
    code: 'BAD_OPTION',
    text: '{action}: the name of a rig is missing',
    hint: 'newcut fleet {action} RIG, or newcut fleet {action} all',
  },
  noSuchRig: {
    code: 'BAD_INPUT',
    text: 'no rig {rig} is connected{guess}',
    hint: 'newcut fleet lists the rigs; pause one when it has connected, or pause all',
  },
  caAndInsecure: {
    code: 'BAD_OPTION',
    text: "--ca and --insecure exclude each other: one checks the node's certificate, the other does not",
    hint: 'give one',
  },
  missingTlsHalf: {
    code: 'BAD_OPTION',
    text: '{flag} is missing: TLS needs a certificate and its key',
    hint: 'give both, or neither',
  },
  paceWithoutHttp: {
    code: 'BAD_OPTION',
    text: '--pace on-demand: --http off serves no POST /make-blocks',
    hint: 'leave out --http off',
  },
  missingCommand: {
    code: 'BAD_OPTION',
    text: '--engine external needs --command',
    hint: "for example --command 'newcut solve'",
  },
  currencies: {
    code: 'BAD_OPTION',
    text: '--coin-price is in {coin} and --power-price in {power}',
    hint: 'state both in one currency: newcut knows no exchange rate',
  },
  rewindWithSet: {
    code: 'BAD_OPTION',
    text: '--rewind has no effect with --set: the code runs on top of the chain',
    hint: 'leave one of them out',
  },
  severalChains: { code: 'BAD_OPTION', text: '--fork-chains: an editor sees one chain', hint: 'name one of them' },
  stateOff: {
    code: 'BAD_OPTION',
    text: '--state off: payouts need a folder for their journal',
    hint: '--state DIR names one',
  },
  // Values.
  unknownChain: {
    code: 'BAD_OPTION',
    text: '{flag} {chain}: {network} has chains {range}',
    noHint: 'the text says which chains there are',
  },
  wrongRequestKey: {
    code: 'BAD_OPTION',
    text: '{place} {text}: not a request key',
    hint: 'expected the 43 characters that newcut send or transfer prints',
  },
  wrongTarget: {
    code: 'BAD_OPTION',
    text: 'target {text}: expected 64 hex digits, little-endian',
    hint: 'the miner that runs newcut solve appends it',
  },
  wrongWork: {
    code: 'BAD_INPUT',
    text: 'standard input: {why}',
    hint: 'expected the 286 bytes of a work header, and nothing else',
  },
  wrongMinerAddress: {
    code: 'BAD_OPTION',
    text: '{address}: expected HOST:PORT, the HTTP address of a miner',
    hint: 'newcut rigs {example}, or no address for a miner on this machine',
  },
  notKeyset: { code: 'BAD_OPTION', text: '--receiver-keyset {json}: not a keyset', hint: KEYSET_EXAMPLE },
  wrongKeyOfKeyset: {
    code: 'BAD_OPTION',
    text: '--receiver-keyset: {key} {problem}',
    hint: 'newcut keygen prints public keys',
  },
  wrongOverrideKey: {
    code: 'BAD_OPTION',
    text: '--set key={value}: a public key has 64 hex digits',
    hint: OVERRIDE_EXAMPLE,
  },
  wrongOverride: { code: 'BAD_OPTION', text: '--set {text}: not a row, time or key', hint: OVERRIDE_EXAMPLE },
  overrideNotJson: { code: 'BAD_OPTION', text: '--set {text}: not valid JSON: {why}', hint: OVERRIDE_EXAMPLE },
  unknownForkField: { code: 'BAD_OPTION', text: '{name} is not an option{guess}', hint: 'fields: {fields}' },
  argumentNotJson: { code: 'BAD_OPTION', text: '{flag} {text}: not valid JSON: {why}', hint: JSON_EXAMPLE },
  emptyCode: {
    code: 'BAD_INPUT',
    text: '{what} is empty',
    hint: `expected code, such as '(coin.get-balance "sender00")'`,
  },
  neitherFileNorData: {
    code: 'BAD_INPUT',
    text: '{text} is neither a file nor data: {why}',
    hint: 'INPUT is hex, base64, JSON of a node, or the name of a file',
  },
  // Keys.
  missingKey: {
    code: 'BAD_OPTION',
    text: '--key is missing: a transaction needs a signature',
    hint: 'name a file that newcut keygen wrote{known}',
  },
  keyTwice: { code: 'BAD_OPTION', text: '--key: the key {key} is given twice', hint: 'give it once' },
  keyInsteadOfFile: {
    code: 'BAD_OPTION',
    text: '--key takes the name of a file, not a key',
    hint: 'other users of this machine can read command lines; newcut keygen FILE makes a key pair',
  },
  developmentKey: {
    code: 'BAD_OPTION',
    text: '--key {name} is a public key pair for development, and {network} is not a development network',
    hint: '{advice}',
  },
  missingKeyFile: {
    code: 'BAD_INPUT',
    text: '--key {file}: no such file or key{guess}',
    hint: 'newcut keygen FILE makes a key pair; well-known keys are {known}',
  },
  noSecretKey: {
    code: 'BAD_INPUT',
    text: '--key {file}: there is no secret key in it',
    hint: 'expected what newcut keygen prints, as text or JSON',
  },
  otherPublicKey: {
    code: 'BAD_INPUT',
    text: '--key {file}: its secret key belongs to the public key {key}',
    hint: 'the file names another public key: correct it, or leave it out',
  },
  foreignSigner: {
    code: 'BAD_OPTION',
    text: '--key: {file} has no signer {key}',
    hint: 'its signers are {signers}',
  },
  // Files.
  unreadableFile: { code: 'BAD_INPUT', text: 'cannot read {path}: {why}', hint: '{advice}' },
  unwritableFile: {
    code: 'BAD_OUTPUT',
    text: 'cannot write {path}: {why}',
    hint: 'newcut needs the right to write it',
  },
  unwritableOutput: { code: 'BAD_OUTPUT', text: '{file}: {problem}', hint: '{advice}' },
  foreignOutput: {
    code: 'BAD_OUTPUT',
    text: '{file}: the file exists, and newcut types has not made it',
    hint: 'name another file, or move this one away',
  },
  unreadableTlsFile: {
    code: 'BAD_OPTION',
    text: '--{name} {file}: {why}',
    hint: 'name a file that the user of this process may read',
  },
  missingAuthorities: {
    code: 'BAD_INPUT',
    text: '--ca {file}: no such file',
    hint: "expected the certificate, in PEM form, of the authority that signed the node's",
  },
  unwritableSnapshot: {
    code: 'BAD_OPTION',
    text: '--gas-snapshot cannot write {file} ({why})',
    hint: 'run it in a folder that you may write to',
  },
  unreadableSnapshot: {
    code: 'BAD_OPTION',
    text: '{flag} cannot read {file}: {why}',
    hint: 'newcut test FILE.repl --gas-snapshot writes it',
  },
  invalidYaml: {
    code: 'BAD_INPUT',
    text: '{place}: not valid YAML or JSON: {why}',
    hint: 'a request file has lines such as code: (+ 1 2)',
  },
  notRequest: {
    code: 'BAD_INPUT',
    text: '{file}: expected an object with code, or with cmd',
    hint: 'docs/NODE-INTERFACE.md describes the fields of a command',
  },
  wrongRequestField: {
    code: 'BAD_INPUT',
    text: '{file}: {field}: expected {expected}',
    noHint: 'the text says what would be right',
  },
  differentCommands: {
    code: 'BAD_INPUT',
    text: '{file} and {other} are different commands: {hash} and {otherHash}',
    hint: 'sign one file; a request file makes a new command each time',
  },
  wrongSignature: {
    code: 'BAD_INPUT',
    text: '{file}: sigs.{index} of {key}: {fault}',
    hint: 'sign the file again: newcut sign FILE --key KEY',
  },
  missingSignatures: {
    code: 'BAD_INPUT',
    text: '{file} lacks the signatures of {keys}',
    hint: 'newcut sign FILE --key KEY adds them',
  },
  otherNetwork: {
    code: 'BAD_INPUT',
    text: '{file} is for the network {network}, and the node is of {other}',
    hint: 'name a node of that network with --node',
  },
  unreadableCode: {
    code: 'BAD_INPUT',
    text: '{place}: {why}',
    hint: 'a file of code has top-level forms of the language',
  },
  notReport: {
    code: 'BAD_INPUT',
    text: '{file} is not a report of newcut fork --verify',
    hint: 'files of code have other names, such as code.pact',
  },
  differentReports: {
    code: 'BAD_INPUT',
    text: 'these reports are of different blocks',
    hint: 'run one after the other',
  },
  unwritableReport: {
    code: 'BAD_OUTPUT',
    text: '--report {file}: {why}',
    hint: 'name a file in a folder that you may write to',
  },
  dynamicNamespace: {
    code: 'BAD_INPUT',
    text: '{file}: its namespace is not a plain text: {text}',
    hint: 'load the contract into a node, and read it there: newcut types NAMESPACE.MODULE',
  },
  noContractInFile: {
    code: 'BAD_INPUT',
    text: '{file}: no module and no interface in it',
    hint: 'newcut types MODULE reads a contract from a node',
  },
  testTimeout: {
    code: 'BAD_INPUT',
    text: 'the test file ran longer than {seconds} s and was stopped',
    hint: 'newcut test FILE runs it without a limit',
  },
  // Answers of nodes, miners and leaders.
  noLeader: {
    code: 'NODE_UNREACHABLE',
    text: 'no leader of the fleet {fleet} answers at {url}',
    hint: 'newcut lead starts one; --fleet-name names another fleet',
  },
  leaderRefusal: { code: 'BAD_OPTION', text: 'the leader refused: {problem}', hint: 'newcut fleet lists its rigs' },
  noMiner: {
    code: 'NODE_UNREACHABLE',
    text: 'no miner answers at {url}: {why}',
    hint: 'is newcut mine running, and is this its --http address?',
  },
  minerWithoutRigs: { code: 'NODE_REFUSED', text: '{miner}: {why}', hint: '{advice}' },
  noRigTable: {
    code: 'NODE_MISBEHAVED',
    text: '{url} did not answer /api/rigs with a table of rigs',
    hint: 'is this the --http address of newcut?',
  },
  notFunded: { code: 'NODE_REFUSED', text: '{account} got no coins: {reason}', hint: '{advice}' },
  noControl: {
    code: 'NODE_REFUSED',
    text: 'this node takes no control requests',
    hint: 'only nodes of newcut devnet take them, from programs of their machine; newcut transfer moves existing coins',
  },
  notACount: {
    code: 'BAD_OPTION',
    text: '{what} {text}: expected a whole number of at least {least}',
    noHint: 'the text says which numbers are right',
  },
  notATime: {
    code: 'BAD_OPTION',
    text: '{text} is not a time or a step of time',
    hint: 'for example +1h, -30s or 2027-01-01T00:00:00Z; --next-block takes a time',
  },
  noSnapshot: { code: 'BAD_INPUT', text: 'the network has no snapshot', hint: 'newcut devnet snapshot takes one' },
  noSuchOperation: {
    code: 'BAD_OPTION',
    text: '{operation}: no such endpoint{guess}',
    hint: 'docs/EXPLORER.md lists their ids, such as cut, send and poll',
  },
  faultWithoutEffect: {
    code: 'BAD_OPTION',
    text: 'a fault of {operation} needs an effect',
    hint: 'give --status, --body or --delay',
  },
  noTraces: {
    code: 'NODE_REFUSED',
    text: 'this node has no traces',
    hint: 'only nodes of newcut devnet execute transactions again',
  },
  noOverrides: {
    code: 'NODE_REFUSED',
    text: 'this node has no overrides',
    hint: 'only nodes of newcut devnet run code on another state',
  },
  noResult: {
    code: 'NO_RESULT',
    text: 'no chain has a result of {key}',
    hint: '{what} may be in no block yet: --chain N waits for it on that chain',
  },
})
