(namespace "free")

(define-keyset "free.tip-jar-owner" (read-keyset "owner"))

(module tip-jar GOVERNANCE
  @doc "A jar for coins: everybody may tip, and its owner takes the coins out."

  (defconst OWNER:string "free.tip-jar-owner" "Name of the keyset that owns the jar.")

  (defschema tipper
    @doc "Somebody who has tipped. The key is the account."
    total:decimal)

  (deftable tippers:{tipper})

  (defcap GOVERNANCE ()
    @doc "Allows another version of this module."
    (enforce-keyset OWNER))

  (defcap JAR ()
    @doc "Guards the coins of the jar. Only functions of this module grant it."
    true)

  (defcap TIP:bool (from:string amount:decimal)
    @doc "A tip."
    @event
    (enforce (> amount 0.0) "A tip must be positive"))

  (defcap EMPTIED:bool (to:string amount:decimal)
    @doc "The owner has taken the coins out."
    @event
    (enforce-keyset OWNER))

  (defun jar-guard:guard ()
    @doc "Guard of the account of the jar."
    (create-capability-guard (JAR)))

  (defun jar:string ()
    @doc "Account of the jar."
    (create-principal (jar-guard)))

  (defun tip:string (from:string amount:decimal)
    @doc "Moves coins from an account into the jar."
    (with-capability (TIP from amount)
      (coin.transfer-create from (jar) (jar-guard) amount)
      (with-default-read tippers from { "total": 0.0 } { "total" := before }
        (write tippers from { "total": (+ before amount) }))))

  (defun total:decimal (from:string)
    @doc "Coins that an account has tipped so far."
    (with-default-read tippers from { "total": 0.0 } { "total" := sum } sum))

  (defun empty:string (to:string)
    @doc "Moves all coins of the jar to an account. Only its owner may."
    (let ((all (coin.get-balance (jar))))
      (with-capability (EMPTIED to all)
        (with-capability (JAR)
          (install-capability (coin.TRANSFER (jar) to all))
          (coin.transfer (jar) to all)))))
)

(create-table tippers)
