(module bank GOV
  (defcap GOV () true)
  (defschema account balance:decimal)
  (deftable accounts:{account})
  (defcap DEBIT (from:string)
    (enforce (!= from "") "no account"))
  (defcap PAY (from:string to:string amount:decimal)
    @managed amount PAY-mgr
    (compose-capability (DEBIT from)))
  (defun PAY-mgr (left:decimal wanted:decimal)
    (enforce (<= wanted left) "too much")
    (- left wanted))
  (defun balance (who:string) (at "balance" (read accounts who)))
  (defun open (who:string)
    (insert accounts who { "balance": 10.0 }))
  (defun debit (from:string amount:decimal)
    (require-capability (DEBIT from))
    (with-read accounts from { "balance" := balance }
      (enforce (>= balance amount) "insufficient funds")
      (update accounts from
        { "balance": (- balance amount) })))
  (defun pay (from:string to:string amount:decimal)
    (with-capability (PAY from to amount)
      (debit from amount)
      (with-default-read accounts to { "balance": 0.0 } { "balance" := before }
        (write accounts to { "balance": (+ before amount) }))))
)
(create-table accounts)
