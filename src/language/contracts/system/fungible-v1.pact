(interface fungible-v1
  @doc "The first interface of tokens, without a transfer between existing accounts. fungible-v2 replaces it."

  (defschema account-details
    @doc "What is known of one account."
    account:string
    balance:decimal
    guard:guard)

  ;; Capabilities

  (defcap TRANSFER:bool (sender:string receiver:string amount:decimal)
    @doc "Allows transfers from one account to another, up to an amount in all. \
         \Its event tells of each movement of the token."
    @managed amount TRANSFER-mgr)

  (defun TRANSFER-mgr:decimal (managed:decimal requested:decimal)
    @doc "What is left of a managed amount after a request. Fails when the request is too large.")

  ;; Transfers

  (defun transfer-create:string (sender:string receiver:string receiver-guard:guard amount:decimal)
    @doc "Moves an amount to an account that has the given guard. \
         \Creates the account when there is none. Needs TRANSFER.")

  (defpact transfer-crosschain:string
      (sender:string receiver:string receiver-guard:guard target-chain:string amount:decimal)
    @doc "Moves an amount to another chain in two steps. \
         \The first one takes it from the sender here, the second one gives it to the receiver there.")

  ;; Accounts

  (defun get-balance:decimal (account:string)
    @doc "Balance of an account. Fails when there is no such account.")

  (defun details:object{account-details} (account:string)
    @doc "All that is known of an account. Fails when there is no such account.")

  (defun precision:integer ()
    @doc "Decimal places of the smallest amount.")

  (defun enforce-unit:bool (amount:decimal)
    @doc "Fails for an amount with more decimal places than the token has.")

  (defun create-account:string (account:string guard:guard)
    @doc "Creates an account with nothing in it. Fails when the account exists.")

  (defun rotate:string (account:string new-guard:guard)
    @doc "Gives an account a new guard. The old one must agree.")
)
