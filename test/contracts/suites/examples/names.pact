(module names G
  (defcap G () true)
  (defun named () 1))
