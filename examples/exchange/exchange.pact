(namespace "free")

(module exchange GOVERNANCE
  @doc "Pools of two tokens. A trade never lowers the product of the reserves of a pool. \
       \A fee of 0.3 % of each trade stays in the pool, for those who own shares of it."
  @model
  [ (defproperty product-never-falls:bool
        (>= (* (after first) (after second)) (* (before first) (before second)))) ]

  (defconst ADMIN:string "free.exchange-admin" "Name of the keyset that owns the exchange.")
  (defconst FEE:decimal 0.003 "Part of each trade that stays in the pool.")
  (defconst SHARE_PLACES:integer 12 "Decimal places of the smallest share.")
  (defconst LOCKED_SHARES:decimal 0.000001
    "Shares of the first deposit that nobody owns, so that a pool never becomes empty again.")

  (defschema pool
    @doc "A pool. Its key is made of the names of its tokens."
    @model [ (invariant (>= first-reserve 0.0)) (invariant (>= second-reserve 0.0)) ]
    first:module{fungible-v2}
    second:module{fungible-v2}
    account:string
    first-reserve:decimal
    second-reserve:decimal
    shares:decimal)

  (deftable pools:{pool})

  (defschema position
    @doc "The shares that one guard owns of one pool."
    guard:guard
    shares:decimal)

  (deftable positions:{position})

  ;; Capabilities

  (defcap GOVERNANCE ()
    @doc "Allows another version of this module."
    (enforce-keyset ADMIN))

  (defcap RESERVE (id:string)
    @doc "Guards the accounts of a pool. Only functions of this module grant it."
    true)

  (defcap WITHDRAW (id:string owner:string shares:decimal)
    @doc "Allows its owner to take out up to a number of shares."
    @managed shares WITHDRAW-mgr
    (enforce-guard (at "guard" (read positions (position-key id owner))))
    (compose-capability (RESERVE id)))

  (defun WITHDRAW-mgr:decimal (managed:decimal requested:decimal)
    @doc "Shares left for further withdrawals."
    (let ((left (- managed requested)))
      (enforce (>= left 0.0) (format "WITHDRAW exceeded for {} shares" [managed]))
      left))

  (defcap CREATED (id:string account:string)
    @doc "Event: there is a new pool."
    @event
    true)

  (defcap DEPOSITED (id:string owner:string first:decimal second:decimal shares:decimal)
    @doc "Event: somebody has put tokens into a pool."
    @event
    true)

  (defcap WITHDRAWN (id:string owner:string first:decimal second:decimal shares:decimal)
    @doc "Event: somebody has taken tokens out of a pool."
    @event
    true)

  (defcap SWAPPED (id:string account:string sold:decimal bought:decimal price:decimal)
    @doc "Event: somebody has traded. The price is what one bought token cost."
    @event
    true)

  ;; Names

  (defun pool-id:string (one:module{fungible-v2} other:module{fungible-v2})
    @doc "Key of the pool of two tokens, in any order."
    (let ((a (format "{}" [one])) (b (format "{}" [other])))
      (enforce (!= a b) "A pool needs two different tokens")
      ;; newcut-mutate: ignore boundary: a is never b
      (if (< a b) (format "{}/{}" [a b]) (format "{}/{}" [b a]))))

  (defun position-key:string (id:string owner:string)
    @doc "Key of the shares of an owner."
    (format "{} {}" [id owner]))

  (defun pool-guard:guard (id:string)
    @doc "Guard of the accounts of a pool."
    (create-capability-guard (RESERVE id)))

  ;; Reading

  (defun get-pool:object{pool} (one:module{fungible-v2} other:module{fungible-v2})
    @doc "A pool."
    ;; newcut-mutate: ignore swap-arguments: the order does not matter
    (read pools (pool-id one other)))

  (defun get-shares:decimal (one:module{fungible-v2} other:module{fungible-v2} owner:string)
    @doc "Shares of an owner, who is a principal such as k:KEY."
    ;; newcut-mutate: ignore swap-arguments: the order does not matter
    (with-default-read positions (position-key (pool-id one other) owner)
      { "shares": 0.0 } { "shares" := shares }
      shares))

  (defun out-of:decimal (reserve-in:decimal reserve-out:decimal amount:decimal places:integer)
    @doc "Bought amount for a sold one, by the reserves."
    @model [ (property (< result reserve-out)) ]
    (let ((after-fee (* amount (- 1.0 FEE))))
      (floor (/ (* reserve-out after-fee) (+ reserve-in after-fee)) places)))

  (defun quote:decimal (sold:module{fungible-v2} bought:module{fungible-v2} amount:decimal)
    @doc "Bought amount for a sold one, as the pool is now."
    (let*
      ;; newcut-mutate: ignore swap-arguments: the order does not matter
      ((pool (get-pool sold bought))
       (is-first (= (format "{}" [sold]) (format "{}" [(at "first" pool)]))))
      (out-of
        (at (if is-first "first-reserve" "second-reserve") pool)
        (at (if is-first "second-reserve" "first-reserve") pool)
        amount
        (bought::precision))))

  ;; Pools and liquidity

  (defun create-pool:string (one:module{fungible-v2} other:module{fungible-v2})
    @doc "Creates the empty pool of two tokens. Anybody may."
    (let*
      ;; newcut-mutate: ignore swap-arguments: the order does not matter
      ((id (pool-id one other))
       (account (create-principal (pool-guard id)))
       ;; newcut-mutate: ignore boundary: the names differ
       (in-order (< (format "{}" [one]) (format "{}" [other]))))
      (insert pools id
        { "first": (if in-order one other),
          "second": (if in-order other one),
          "account": account,
          "first-reserve": 0.0,
          "second-reserve": 0.0,
          "shares": 0.0 })
      (emit-event (CREATED id account))
      id))

  (defun deposit:decimal (id:string account:string guard:guard first-most:decimal second-most:decimal)
    @doc "Puts tokens into a pool, in the ratio of its reserves, and gives shares to the guard. \
         \At most the amounts that are named are taken from the account."
    (enforce (and (> first-most 0.0) (> second-most 0.0)) "Deposits must be positive")
    (with-read pools id
      { "first" := first:module{fungible-v2},
        "second" := second:module{fungible-v2},
        "account" := reserve,
        "first-reserve" := first-reserve,
        "second-reserve" := second-reserve,
        "shares" := shares }
      (let*
        ((is-new (= shares 0.0))
         (made
           (if is-new
             (floor (sqrt (* first-most second-most)) SHARE_PLACES)
             (floor
               (* shares
                 ;; newcut-mutate: ignore boundary, off-by-one: both parts are equal there
                 (if (< (* first-most second-reserve) (* second-most first-reserve))
                   (/ first-most first-reserve)
                   (/ second-most second-reserve)))
               SHARE_PLACES)))
         (first-in
           (if is-new first-most (ceiling (/ (* made first-reserve) shares) (first::precision))))
         (second-in
           (if is-new second-most (ceiling (/ (* made second-reserve) shares) (second::precision))))
         (owned (if is-new (- made LOCKED_SHARES) made))
         (owner (create-principal guard)))
        (enforce (> owned 0.0) "The deposit is too small")
        (first::transfer-create account reserve (pool-guard id) first-in)
        (second::transfer-create account reserve (pool-guard id) second-in)
        (update pools id
          { "first-reserve": (+ first-reserve first-in),
            "second-reserve": (+ second-reserve second-in),
            "shares": (+ shares made) })
        (with-default-read positions (position-key id owner)
          { "shares": 0.0 } { "shares" := before }
          (write positions (position-key id owner) { "guard": guard, "shares": (+ before owned) }))
        (emit-event (DEPOSITED id owner first-in second-in owned))
        owned)))

  (defun withdraw:[decimal] (id:string owner:string account:string guard:guard shares:decimal)
    @doc "Takes shares of the owner, and pays their part of the reserves to an account with a guard."
    (enforce (> shares 0.0) "Shares must be positive")
    (with-capability (WITHDRAW id owner shares)
      (with-read positions (position-key id owner) { "shares" := owned }
        (enforce (<= shares owned) (format "{} owns only {} shares" [owner owned]))
        (update positions (position-key id owner) { "shares": (- owned shares) }))
      (with-read pools id
        { "first" := first:module{fungible-v2},
          "second" := second:module{fungible-v2},
          "first-reserve" := first-reserve,
          "second-reserve" := second-reserve,
          "shares" := all }
        (let
          ((first-out (floor (/ (* shares first-reserve) all) (first::precision)))
           (second-out (floor (/ (* shares second-reserve) all) (second::precision))))
          (update pools id
            { "first-reserve": (- first-reserve first-out),
              "second-reserve": (- second-reserve second-out),
              "shares": (- all shares) })
          (pay id first account guard first-out)
          (pay id second account guard second-out)
          (emit-event (WITHDRAWN id owner first-out second-out shares))
          [first-out second-out]))))

  (defun pay:string (id:string token:module{fungible-v2} account:string guard:guard amount:decimal)
    @doc "Pays out of the reserves of a pool."
    (require-capability (RESERVE id))
    (let ((reserve (create-principal (pool-guard id))))
      ;; newcut-mutate: ignore off-by-one: the transfer below takes the amount
      (install-capability (token::TRANSFER reserve account amount))
      (token::transfer-create reserve account guard amount)))

  ;; Trades

  (defun swap:decimal
    (sold:module{fungible-v2}
     bought:module{fungible-v2}
     account:string
     guard:guard
     amount:decimal
     least:decimal)
    @doc "Sells an amount of one token for the other. Fails if that gives less than the least that one accepts."
    @model [ (property product-never-falls) (property (>= result least)) ]
    (enforce (> amount 0.0) "An amount must be positive")
    (let*
      ;; newcut-mutate: ignore swap-arguments: the order does not matter
      ((id (pool-id sold bought))
       (got (quote sold bought amount)))
      (enforce (> got 0.0) "The amount is too small")
      (enforce (>= got least) (format "The price has moved: {} is less than {}" [got least]))
      (with-read pools id
        { "first" := first:module{fungible-v2},
          "account" := reserve,
          "first-reserve" := first-reserve,
          "second-reserve" := second-reserve }
        (sold::transfer account reserve amount)
        (update pools id
          (if (= (format "{}" [sold]) (format "{}" [first]))
            { "first-reserve": (+ first-reserve amount), "second-reserve": (- second-reserve got) }
            { "first-reserve": (- first-reserve got), "second-reserve": (+ second-reserve amount) })))
      (with-capability (RESERVE id)
        (pay id bought account guard got))
      (emit-event (SWAPPED id account amount got (floor (/ amount got) 12)))
      got))
)

(if (read-msg "upgrade")
  "upgraded"
  [(create-table pools)
   (create-table positions)])
