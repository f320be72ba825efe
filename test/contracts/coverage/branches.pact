(module branches G
  (defcap G () true)
  (defun sign:string (n:integer)
    (cond
      ((< n 0) "negative")
      ((= n 0) "zero")
      "positive"))
  (defun both (a:bool b:bool)
    (and a b))
  (defun either (a:bool b:bool)
    (or
      a
      b))
  (defun one-of (n:integer)
    (enforce-one "none of them"
      [ (enforce (= n 1) "not one")
        (enforce (= n 2) "not two") ]))
  (defun short (n:integer) (if (= n 0) "a" "b"))
  (defun unused (n:integer)
    (let ((m (+ n 1)))
      (* m m)))
  (defun each (xs:[integer])
    (map
      (lambda (x)
        (+ x 1))
      xs))
  (defun plus (xs:[integer])
    (fold (+) 0 xs)))
