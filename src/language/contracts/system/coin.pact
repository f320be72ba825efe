(module coin GOVERNANCE
  @doc "The token of the network: it pays for gas, and blocks are rewarded with it."

  (implements fungible-v2)
  (implements fungible-xchain-v1)

  ;; ---------------------------------------------------------------------------
  ;; Constants

  (defconst COIN_CHARSET:integer CHARSET_LATIN1
    "Characters that names of accounts consist of.")

  (defconst MINIMUM_PRECISION:integer 12
    "Decimal places of the smallest amount.")

  (defconst MINIMUM_ACCOUNT_LENGTH:integer 3
    "Fewest characters in the name of an account.")

  (defconst MAXIMUM_ACCOUNT_LENGTH:integer 256
    "Most characters in the name of an account.")

  (defconst VALID_CHAIN_IDS:[string] (map (int-to-str 10) (enumerate 0 19))
    "Chains of the network.")

  (defconst NO_ACCOUNT:decimal -1.0
    "Stands for the balance where there is no account: no account can owe.")

  ;; ---------------------------------------------------------------------------
  ;; Tables

  (defschema coin-schema
    @doc "One account. Its key is its name."
    balance:decimal
    guard:guard)

  (deftable coin-table:{coin-schema})

  (defschema allocation-schema
    @doc "An amount that is locked until a date. Its key is the account that gets it."
    balance:decimal
    date:time
    guard:guard
    redeemed:bool)

  (deftable allocation-table:{allocation-schema})

  ;; ---------------------------------------------------------------------------
  ;; Capabilities of the network: it grants them itself, where a block calls for them.
  ;; Nobody else can acquire them, because only the administrator of this module may
  ;; from outside, and there is none.

  (defcap GOVERNANCE ()
    @doc "Nobody can change this module."
    (enforce false "The coin contract cannot be changed"))

  (defcap GAS ()
    @doc "Held while the gas of a transaction is bought, and while it is settled."
    true)

  (defcap COINBASE ()
    @doc "Held while a block is rewarded."
    true)

  (defcap GENESIS ()
    @doc "Held while the first block of a chain is made."
    true)

  (defcap REMEDIATE ()
    @doc "Held while the network itself takes coins out of an account."
    true)

  ;; ---------------------------------------------------------------------------
  ;; Capabilities of accounts

  (defcap DEBIT (sender:string)
    @doc "Allows taking from an account. Its guard must agree."
    (enforce (!= sender "") "valid sender")
    (enforce-guard (at "guard" (read coin-table sender))))

  (defcap CREDIT (receiver:string)
    @doc "Allows giving to an account."
    (enforce (!= receiver "") "valid receiver"))

  (defcap ROTATE (account:string)
    @doc "Allows one change of the guard of an account. The present guard must agree."
    @managed
    (enforce-guard (at "guard" (read coin-table account))))

  (defcap TRANSFER:bool (sender:string receiver:string amount:decimal)
    @doc "Allows transfers from one account to another, up to an amount in all."
    @managed amount TRANSFER-mgr
    (enforce (!= sender receiver) "same sender and receiver")
    (enforce-unit amount)
    (enforce (> amount 0.0) "Positive amount")
    (compose-capability (DEBIT sender))
    (compose-capability (CREDIT receiver)))

  (defun TRANSFER-mgr:decimal (managed:decimal requested:decimal)
    @doc "What is left for further transfers."
    (let ((left (- managed requested)))
      (enforce (>= left 0.0) (format "TRANSFER exceeded for balance {}" [managed]))
      left))

  (defcap TRANSFER_XCHAIN:bool (sender:string receiver:string amount:decimal target-chain:string)
    @doc "Allows one transfer to an account of another chain, of at most an amount."
    @managed amount TRANSFER_XCHAIN-mgr
    (enforce-unit amount)
    (enforce (> amount 0.0) "Cross-chain transfers require a positive amount")
    (compose-capability (DEBIT sender)))

  (defun TRANSFER_XCHAIN-mgr:decimal (managed:decimal requested:decimal)
    @doc "Nothing is left: the capability serves one transfer."
    (enforce (<= requested managed) (format "TRANSFER_XCHAIN exceeded for balance {}" [managed]))
    0.0)

  (defcap TRANSFER_XCHAIN_RECD:bool (sender:string receiver:string amount:decimal source-chain:string)
    @doc "Tells of a transfer that has come from another chain."
    @event
    true)

  (defcap RELEASE_ALLOCATION (account:string amount:decimal)
    @doc "Tells of an allocation that is released. Signers limit their signature to it."
    @event
    true)

  ;; ---------------------------------------------------------------------------
  ;; Rules for names and amounts

  (defun enforce-unit:bool (amount:decimal)
    @doc "Fails for an amount with more decimal places than a coin has."
    (enforce
      (= amount (floor amount MINIMUM_PRECISION))
      (format "Amount violates minimum precision: {}" [amount])))

  (defun validate-account:bool (account:string)
    @doc "Fails for a name that no account may have."
    (enforce
      (is-charset COIN_CHARSET account)
      (format "Account does not conform to the coin contract charset: {}" [account]))
    (let ((size (length account)))
      (enforce
        (>= size MINIMUM_ACCOUNT_LENGTH)
        (format "Account name does not conform to the min length requirement: {}" [account]))
      (enforce
        (<= size MAXIMUM_ACCOUNT_LENGTH)
        (format "Account name does not conform to the max length requirement: {}" [account]))))

  (defun check-reserved:string (account:string)
    @doc "The first character of a reserved name: one with a colon behind it. Empty for other names."
    (let ((start (take 2 account)))
      (if (= ":" (take -1 start)) (take 1 start) "")))

  (defun enforce-reserved:bool (account:string guard:guard)
    @doc "Fails for a reserved name that is not the principal of the guard."
    (or (validate-principal guard account)
      (let ((kind (check-reserved account)))
        (enforce (= kind "")
          (if (= kind "k")
            "Single-key account protocol violation"
            (format "Reserved protocol guard violation: {}" [kind]))))))

  ;; ---------------------------------------------------------------------------
  ;; Accounts

  (defun create-account:string (account:string guard:guard)
    @doc "Creates an account with nothing in it."
    (validate-account account)
    (enforce-reserved account guard)
    (insert coin-table account { "balance": 0.0, "guard": guard }))

  (defun get-balance:decimal (account:string)
    @doc "Balance of an account."
    (with-read coin-table account { "balance" := balance } balance))

  (defun details:object{fungible-v2.account-details} (account:string)
    @doc "Name, balance and guard of an account."
    (with-read coin-table account { "balance" := balance, "guard" := guard }
      { "account": account, "balance": balance, "guard": guard }))

  (defun precision:integer ()
    @doc "Decimal places of the smallest amount."
    MINIMUM_PRECISION)

  (defun rotate:string (account:string new-guard:guard)
    @doc "Gives an account a new guard. The name stays: a reserved one allows no other guard."
    (with-capability (ROTATE account)
      (enforce-reserved account new-guard)
      (update coin-table account { "guard": new-guard })))

  ;; ---------------------------------------------------------------------------
  ;; Transfers on one chain

  (defun transfer:string (sender:string receiver:string amount:decimal)
    @doc "Moves an amount between two accounts that exist."
    (enforce (!= sender receiver) "sender cannot be the receiver of a transfer")
    (validate-account sender)
    (validate-account receiver)
    (enforce (> amount 0.0) "transfer amount must be positive")
    (enforce-unit amount)
    (with-capability (TRANSFER sender receiver amount)
      (debit sender amount)
      (with-read coin-table receiver { "guard" := guard }
        (credit receiver guard amount))))

  (defun transfer-create:string (sender:string receiver:string receiver-guard:guard amount:decimal)
    @doc "Moves an amount to an account that has the given guard, or is created with it."
    (enforce (!= sender receiver) "sender cannot be the receiver of a transfer")
    (validate-account sender)
    (validate-account receiver)
    (enforce (> amount 0.0) "transfer amount must be positive")
    (enforce-unit amount)
    (with-capability (TRANSFER sender receiver amount)
      (debit sender amount)
      (credit receiver receiver-guard amount)))

  (defun debit:string (account:string amount:decimal)
    @doc "Takes an amount from an account. Only for functions that hold DEBIT."
    (validate-account account)
    (enforce (> amount 0.0) "debit amount must be positive")
    (enforce-unit amount)
    (require-capability (DEBIT account))
    (with-read coin-table account { "balance" := balance }
      (enforce (<= amount balance) "Insufficient funds")
      (update coin-table account { "balance": (- balance amount) })))

  (defun credit:string (account:string guard:guard amount:decimal)
    @doc "Gives an amount to an account that has the guard, or is created with it. \
         \Only for functions that hold CREDIT."
    (validate-account account)
    (enforce (> amount 0.0) "credit amount must be positive")
    (enforce-unit amount)
    (require-capability (CREDIT account))
    (with-default-read coin-table account
      { "balance": NO_ACCOUNT, "guard": guard }
      { "balance" := balance, "guard" := present }
      ;; The guard that is given says whom the sender means. Another one there: another owner.
      (enforce (= present guard) "account guards do not match")
      (let ((created (if (= balance NO_ACCOUNT) (enforce-reserved account guard) false)))
        (write coin-table account
          { "balance": (if created amount (+ balance amount)), "guard": present }))))

  ;; ---------------------------------------------------------------------------
  ;; Transfers between chains

  (defschema crosschain-schema
    @doc "What the first step of a transfer between chains tells the second one."
    receiver:string
    receiver-guard:guard
    amount:decimal
    source-chain:string)

  (defpact transfer-crosschain:string
      (sender:string receiver:string receiver-guard:guard target-chain:string amount:decimal)
    @doc "Moves an amount to another chain: it ends to be here, and begins to be there. \
         \The second step runs there, with a proof of the first one."

    (step
      (with-capability (TRANSFER_XCHAIN sender receiver amount target-chain)
        (validate-account sender)
        (validate-account receiver)
        ;; Refused here already: there the amount could not be received, and would be lost.
        (enforce-reserved receiver receiver-guard)
        (let ((here (at "chain-id" (chain-data))))
          (enforce (!= here target-chain) "cannot run cross-chain transfers to the same chain")
          (enforce
            (contains target-chain VALID_CHAIN_IDS)
            "target chain is not a valid chainweb chain id")
          (debit sender amount)
          (emit-event (TRANSFER sender "" amount))
          (let
            ((message:object{crosschain-schema}
              { "receiver": receiver
              , "receiver-guard": receiver-guard
              , "amount": amount
              , "source-chain": here }))
            (yield message target-chain)))))

    (step
      (resume
        { "receiver" := to
        , "receiver-guard" := to-guard
        , "amount" := received
        , "source-chain" := source-chain }
        (emit-event (TRANSFER "" to received))
        (emit-event (TRANSFER_XCHAIN_RECD "" to received source-chain))
        (with-capability (CREDIT to)
          (credit to to-guard received)))))

  ;; ---------------------------------------------------------------------------
  ;; Gas. The network calls these, with GAS held: it buys all the gas that a transaction
  ;; may use, runs the transaction, and then settles with the fee in the message.

  (defun gas-only:bool ()
    @doc "Fails unless gas is being bought or settled."
    (require-capability (GAS)))

  (defun gas-guard:bool (guard:guard)
    @doc "Fails unless gas is being bought or settled, or the guard agrees."
    (enforce-one "Enforce either the presence of a GAS cap or keyset"
      [ (gas-only)
        (enforce-guard guard) ]))

  (defun buy-gas:string (sender:string total:decimal)
    @doc "Takes the price of all the gas that a transaction may use."
    (require-capability (GAS))
    (validate-account sender)
    (enforce-unit total)
    (enforce (> total 0.0) "gas supply must be a positive quantity")
    (with-capability (DEBIT sender)
      (debit sender total)))

  (defun redeem-gas:string (miner:string miner-guard:guard sender:string total:decimal)
    @doc "Gives the fee to the miner, and the rest back to the sender. \
         \The message has the fee in its field \"fee\"."
    (require-capability (GAS))
    (validate-account sender)
    (validate-account miner)
    (enforce-unit total)
    (let ((fee (read-decimal "fee")))
      (enforce-unit fee)
      (enforce (>= fee 0.0) "gas fee cannot be negative")
      (enforce (<= fee total) "gas fee cannot exceed what was paid")
      (let
        ((refunded
          (if (< fee total)
            (with-capability (CREDIT sender)
              (credit sender (at "guard" (read coin-table sender)) (- total fee)))
            "Nothing to refund")))
        (emit-event (TRANSFER sender miner fee))
        (if (> fee 0.0)
          (with-capability (CREDIT miner)
            (credit miner miner-guard fee))
          refunded))))

  (defpact fund-tx (sender:string miner:string miner-guard:guard total:decimal)
    @doc "Buys gas and settles it, as the two steps around a transaction."
    (step (buy-gas sender total))
    (step (redeem-gas miner miner-guard sender total)))

  ;; ---------------------------------------------------------------------------
  ;; Rewards and corrections, by the network

  (defun coinbase:string (account:string guard:guard amount:decimal)
    @doc "Gives the reward of a block to an account."
    (require-capability (COINBASE))
    (validate-account account)
    (enforce-unit amount)
    (emit-event (TRANSFER "" account amount))
    (with-capability (CREDIT account)
      (credit account guard amount)))

  (defun remediate:string (account:string amount:decimal)
    @doc "Takes an amount out of an account and out of the world."
    (require-capability (REMEDIATE))
    (validate-account account)
    (enforce (> amount 0.0) "Remediation amount must be positive")
    (enforce-unit amount)
    (emit-event (TRANSFER account "" amount))
    (let ((balance (get-balance account)))
      (enforce (<= amount balance) "Insufficient funds")
      (update coin-table account { "balance": (- balance amount) })))

  ;; ---------------------------------------------------------------------------
  ;; Allocations: amounts of the first block that are locked until a date

  (defun create-allocation-account:string
      (account:string date:time keyset-ref:string amount:decimal)
    @doc "Creates an empty account, and an amount for it that is locked until a date."
    (require-capability (GENESIS))
    (validate-account account)
    (enforce (>= amount 0.0) "allocation amount must be non-negative")
    (enforce-unit amount)
    (let ((guard (keyset-ref-guard keyset-ref)))
      (create-account account guard)
      (insert allocation-table account
        { "balance": amount
        , "date": date
        , "guard": guard
        , "redeemed": false })))

  (defun release-allocation:string (account:string)
    @doc "Gives the locked amount to its account: once, after its date, with its keyset."
    (validate-account account)
    (with-read allocation-table account
      { "balance" := amount
      , "date" := date
      , "guard" := guard
      , "redeemed" := redeemed }
      (enforce (not redeemed) "allocation funds have already been redeemed")
      (let ((now (at "block-time" (chain-data))))
        (enforce (>= now date) (format "funds locked until {}. current time: {}" [date now])))
      (with-capability (RELEASE_ALLOCATION account amount)
        (enforce-guard guard)
        (emit-event (TRANSFER "" account amount))
        (update allocation-table account { "balance": 0.0, "redeemed": true })
        ;; The account may have got another guard meanwhile.
        (with-capability (CREDIT account)
          (credit account (at "guard" (read coin-table account)) amount))
        "Allocation successfully released to main ledger")))
)
