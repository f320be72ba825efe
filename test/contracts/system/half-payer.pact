(module half GOVERNANCE
  @doc "Lacks a function of the interface."
  (implements gas-payer-v1)
  (defcap GOVERNANCE () true)
  (defcap GAS_PAYER:bool (user:string limit:integer price:decimal) true))
