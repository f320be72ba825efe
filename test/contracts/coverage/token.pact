(module token GOVERNANCE
  (defcap GOVERNANCE ()
    (enforce false "nobody governs"))
  (defschema account
    balance:integer
    guard:guard)
  (deftable accounts:{account})

  (defconst LIMIT 100)

  (defcap DEBIT (from:string)
    (with-read accounts from { "guard" := g }
      (enforce-guard g)))

  (defcap MOVED (from:string to:string)
    @event
    true)

  (defun create:string (name:string guard:guard)
    (insert accounts name
      { "balance": 0
      , "guard": guard }))

  (defun move:string (from:string to:string amount:integer)
    "Moves an amount."
    (enforce (> amount 0)
      "nothing to move")
    (if (> amount LIMIT)
      (too-much amount)
      (with-capability (DEBIT from)
        (debit from amount)
        (emit-event (MOVED from to))
        (credit to amount))))

  (defun too-much (amount:integer)
    (format "{} is more than {}"
      [amount LIMIT]))

  (defun debit (from:string amount:integer)
    (require-capability (DEBIT from))
    (with-read accounts from { "balance" := b }
      (enforce (>= b amount) "too poor")
      (update accounts from { "balance": (- b amount) })))

  (defun credit (to:string amount:integer)
    (with-read accounts to { "balance" := b }
      (update accounts to
        { "balance": (+ b amount) })))
)
(create-table accounts)
