(interface gas-payer-v1
  @doc "A module that pays the gas of other people's transactions."

  (defcap GAS_PAYER:bool (user:string limit:integer price:decimal)
    @doc "Decides whether the gas of a transaction is paid for this user, \
         \with this limit and this price of a unit. Grants what the guard of the paying account asks for.")

  (defun create-gas-payer-guard:guard ()
    @doc "The guard of the account that pays. It agrees only while the module pays for gas.")
)
