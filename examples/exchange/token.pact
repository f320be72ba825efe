(namespace "free")

(module token GOVERNANCE
  @doc "A token with a supply that only its owner raises. It moves between accounts and chains."
  @model
  [ (defproperty conserves-supply:bool (= 0.0 (column-delta accounts "balance")))
      (defproperty positive:bool (amount:decimal) (> amount 0.0)) ]

  (implements fungible-v2)

  (defconst ADMIN:string "free.token-admin" "Name of the keyset that owns the token.")
  (defconst PRECISION:integer 8 "Decimal places of the smallest amount.")

  (defschema account
    @doc "An account. Its key is its name."
    @model [ (invariant (>= balance 0.0)) ]
    balance:decimal
    guard:guard)

  (deftable accounts:{account})

  (defschema message
    @doc "State that a transfer between chains carries."
    receiver:string
    receiver-guard:guard
    amount:decimal)

  ;; Capabilities

  (defcap GOVERNANCE ()
    @doc "Allows another version of this module."
    (enforce-keyset ADMIN))

  (defcap MINT (receiver:string amount:decimal)
    @doc "Allows the owner to raise the supply."
    @event
    (enforce-keyset ADMIN)
    (compose-capability (CREDIT receiver)))

  (defcap DEBIT (sender:string)
    @doc "Allows taking from an account. Its guard must agree."
    (enforce-guard (at "guard" (read accounts sender))))

  (defcap CREDIT (receiver:string)
    @doc "Allows giving to an account. Only functions of this module grant it."
    (enforce (!= receiver "") "A receiver needs a name"))

  (defcap TRANSFER:bool (sender:string receiver:string amount:decimal)
    @doc "Allows transfers from one account to another, up to an amount in all."
    @managed amount TRANSFER-mgr
    (enforce (!= sender receiver) "An account cannot pay itself")
    (enforce-unit amount)
    (enforce (> amount 0.0) "An amount must be positive")
    (compose-capability (DEBIT sender))
    (compose-capability (CREDIT receiver)))

  (defun TRANSFER-mgr:decimal (managed:decimal requested:decimal)
    @doc "Amount left for further transfers."
    (let ((left (- managed requested)))
      (enforce (>= left 0.0) (format "TRANSFER exceeded for balance {}" [managed]))
      left))

  (defcap ROTATE (account:string)
    @doc "Allows one change of the guard of an account."
    @managed
    (enforce-guard (at "guard" (read accounts account))))

  ;; Accounts

  (defun enforce-unit:bool (amount:decimal)
    @doc "Fails for an amount with too many decimal places."
    ;; newcut-mutate: ignore rounding: an amount that needs none is equal either way
    (enforce (= amount (floor amount PRECISION)) (format "{} has too many decimal places" [amount])))

  (defun enforce-name:bool (account:string guard:guard)
    @doc "Fails for a name that belongs to another guard, such as k:KEY."
    (enforce (>= (length account) 3) "A name has at least 3 characters")
    (enforce
      (or (!= ":" (drop 1 (take 2 account))) (validate-principal guard account))
      (format "{} is the name of another guard" [account])))

  (defun create-account:string (account:string guard:guard)
    @doc "Creates an empty account."
    (enforce-name account guard)
    (insert accounts account { "balance": 0.0, "guard": guard }))

  (defun get-balance:decimal (account:string)
    @doc "Balance of an account."
    (at "balance" (read accounts account ["balance"])))

  (defun details:object{fungible-v2.account-details} (account:string)
    @doc "Name, balance and guard of an account."
    (with-read accounts account { "balance" := balance, "guard" := guard }
      { "account": account, "balance": balance, "guard": guard }))

  (defun precision:integer ()
    @doc "Decimal places of the smallest amount."
    PRECISION)

  (defun rotate:string (account:string new-guard:guard)
    @doc "Gives an account another guard."
    (with-capability (ROTATE account)
      (enforce-name account new-guard)
      (update accounts account { "guard": new-guard })))

  (defun supply:decimal ()
    @doc "Sum of all balances on this chain. Only for tests and local calls: it reads every account."
    (fold (+) 0.0 (map (at "balance") (select accounts ["balance"] (constantly true)))))

  ;; Movements

  (defun mint:string (receiver:string receiver-guard:guard amount:decimal)
    @doc "Raises the supply."
    (enforce-unit amount)
    (enforce (> amount 0.0) "An amount must be positive")
    (with-capability (MINT receiver amount)
      (credit receiver receiver-guard amount)))

  (defun transfer:string (sender:string receiver:string amount:decimal)
    @doc "Moves an amount to an account that exists."
    @model [ (property conserves-supply) (property (positive amount)) ]
    (with-capability (TRANSFER sender receiver amount)
      (debit sender amount)
      (credit receiver (at "guard" (read accounts receiver)) amount)))

  (defun transfer-create:string (sender:string receiver:string receiver-guard:guard amount:decimal)
    @doc "Moves an amount to an account that has the guard, or is created with it."
    @model [ (property conserves-supply) (property (positive amount)) ]
    (with-capability (TRANSFER sender receiver amount)
      (debit sender amount)
      (credit receiver receiver-guard amount)))

  (defun debit:string (account:string amount:decimal)
    @doc "Takes an amount from an account."
    (require-capability (DEBIT account))
    (with-read accounts account { "balance" := balance }
      (enforce (<= amount balance) (format "{} has only {}" [account balance]))
      (update accounts account { "balance": (- balance amount) })))

  (defun credit:string (account:string guard:guard amount:decimal)
    @doc "Gives an amount to an account."
    (require-capability (CREDIT account))
    (with-default-read accounts account { "balance": -1.0, "guard": guard }
      { "balance" := balance, "guard" := present }
      (enforce (= guard present) (format "{} has another guard" [account]))
      (if (= balance -1.0)
        (let ((ok (enforce-name account guard)))
          ;; newcut-mutate: ignore exchange-write: the row is missing here
          (insert accounts account { "balance": amount, "guard": guard }))
        (update accounts account { "balance": (+ balance amount) }))))

  (defpact transfer-crosschain:string
    (sender:string receiver:string receiver-guard:guard target-chain:string amount:decimal)
    @doc "Moves an amount to another chain, in two steps."
    (step
      (with-capability (TRANSFER sender receiver amount)
        (enforce (!= target-chain (at "chain-id" (chain-data))) "The target is another chain")
        (enforce-name receiver receiver-guard)
        (debit sender amount)
        (let
          ((message:object{message}
             { "receiver": receiver, "receiver-guard": receiver-guard, "amount": amount }))
          (yield message target-chain))))
    (step
      (resume { "receiver" := receiver, "receiver-guard" := receiver-guard, "amount" := amount }
        (with-capability (CREDIT receiver)
          (credit receiver receiver-guard amount)))))
)

(if (read-msg "upgrade") "upgraded" (create-table accounts))
