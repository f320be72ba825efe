(module ns GOVERNANCE
  @doc "Decides who may define which namespace."

  ;; The keysets of this module are defined by the first block, after it.

  (defcap GOVERNANCE ()
    @doc "Changes this module."
    (enforce-keyset "ns-admin-keyset"))

  (defcap OPERATE ()
    @doc "Changes the registry."
    (enforce-keyset "ns-operate-keyset"))

  (defconst MINIMUM_NAME_LENGTH:integer 3
    "Fewest characters in the name of a namespace.")

  (defconst MAXIMUM_NAME_LENGTH:integer 64
    "Most characters in the name of a namespace.")

  (defconst PRINCIPAL_PREFIX:string "n_"
    "Begins the names of principal namespaces.")

  (defconst PRINCIPAL_DIGITS:integer 40
    "Hexadecimal digits of the hash in such a name.")

  (defschema reg-entry
    @doc "A reserved namespace. Its key is its name."
    admin-guard:guard
    active:bool)

  (deftable registry:{reg-entry})

  (defun create-principal-namespace:string (guard:guard)
    @doc "The name of the namespace that belongs to whoever has the guard."
    (+ PRINCIPAL_PREFIX
      (take PRINCIPAL_DIGITS (int-to-str 16 (str-to-int 64 (hash guard))))))

  (defun validate-name:bool (name:string)
    @doc "Fails for a name that no namespace may have."
    (enforce (is-charset CHARSET_LATIN1 name) (format "Name of namespace is not Latin-1: {}" [name]))
    (let ((size (length name)))
      (enforce (>= size MINIMUM_NAME_LENGTH) (format "Name of namespace is too short: {}" [name]))
      (enforce (<= size MAXIMUM_NAME_LENGTH) (format "Name of namespace is too long: {}" [name]))))

  (defun validate:bool (ns-name:string ns-admin:guard)
    @doc "Asked for each new namespace. Anybody may define the principal namespace of an own guard. \
         \All others must have been reserved, be active, and have the guard they were reserved with."
    (if (= ns-name (create-principal-namespace ns-admin))
      (enforce-guard ns-admin)
      (do
        (validate-name ns-name)
        (with-default-read registry ns-name
          { "admin-guard": ns-admin, "active": false }
          { "admin-guard" := owner, "active" := active }
          (enforce active (format "Namespace is not reserved or not active: {}" [ns-name]))
          (enforce (= owner ns-admin) (format "Namespace is reserved for another guard: {}" [ns-name]))
          (enforce-guard owner)))))

  (defun write-registry:string (ns:string guard:guard active:bool)
    @doc "Reserves a namespace for a guard, and says whether it may be defined."
    (validate-name ns)
    (with-capability (OPERATE)
      (write registry ns { "admin-guard": guard, "active": active })))

  (defun success:bool ()
    @doc "For guards that let everybody pass."
    true)

  (defun failure:bool ()
    @doc "For guards that let nobody pass."
    (enforce false "Nobody may do this"))

  (defun query:object{reg-entry} (ns:string)
    @doc "How a namespace is reserved. Fails when it is not."
    (read registry ns))
)
