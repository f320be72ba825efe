(module till GOVERNANCE
  (defcap GOVERNANCE () true)
  (defun price:decimal () 2.5))
