(interface fungible-xchain-v1
  @doc "Capabilities of tokens that move between chains."

  (defcap TRANSFER_XCHAIN:bool (sender:string receiver:string amount:decimal target-chain:string)
    @doc "Allows one transfer to an account of another chain, of at most an amount. \
         \Its event tells the sending chain of the transfer."
    @managed amount TRANSFER_XCHAIN-mgr)

  (defun TRANSFER_XCHAIN-mgr:decimal (managed:decimal requested:decimal)
    @doc "What is left of a managed amount after a request. Fails when the request is too large.")

  (defcap TRANSFER_XCHAIN_RECD:bool (sender:string receiver:string amount:decimal source-chain:string)
    @doc "Tells the receiving chain of a transfer that has come from another one."
    @event)
)
