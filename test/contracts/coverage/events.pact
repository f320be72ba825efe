(module events G
  (defcap G () true)
  (defcap TOLD (name:string)
    @event
    true)
  (defcap CHECKED (name:string)
    @event
    (enforce (!= name "") "a name"))
  (defcap NEVER ()
    @event
    true)
  (defcap HELD (name:string)
    @event
    true)
  (defun tell (name:string)
    (emit-event (TOLD name))
    (emit-event (CHECKED name)))
  (defun hold (name:string)
    (with-capability (HELD name)
      (with-capability (CHECKED name) true)))
  (defun nested (a:bool b:bool)
    (if a (if b 1 2) 3)))
