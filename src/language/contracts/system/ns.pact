(module ns GOVERNANCE
  @doc "Decides who may define which namespace."

  ;; The first block defines the keysets of this module after it.

  (defcap GOVERNANCE ()
    @doc "Changes this module."
    (enforce-keyset "ns-admin-keyset"))

  (defcap OPERATE ()
    @doc "Changes the registry."
    (enforce-keyset "ns-operate-keyset"))

  (defconst MAXIMUM_NAME_LENGTH:integer 63
    "Most characters in a reserved name.")

  (defconst PRINCIPAL_PREFIX:string "n_"
    "Begins the names of principal namespaces.")

  (defconst PRINCIPAL_DIGITS:integer 40
    "Hexadecimal digits of the hash in such a name.")

  (defconst PRINCIPAL_KINDS:[string] ["k:" "w:"]
    "Kinds of principals that have a namespace: a key, or several.")

  (defconst GUARD_SUCCESS:guard (create-user-guard (success))
    "Lets everybody pass.")

  (defconst GUARD_FAILURE:guard (create-user-guard (failure))
    "Lets nobody pass.")

  (defschema reg-entry
    @doc "A reserved namespace. Its key is its name."
    admin-guard:guard
    active:bool)

  (deftable registry:{reg-entry})

  (defun create-principal-namespace:string (g:guard)
    @doc "The name of the namespace that belongs to a keyset. Fails for other guards."
    (let ((kind (typeof-principal (create-principal g))))
      (enforce (contains kind PRINCIPAL_KINDS) (format "Unsupported guard protocol: {}" [kind]))
      (+ PRINCIPAL_PREFIX (take PRINCIPAL_DIGITS (int-to-str 16 (str-to-int 64 (hash g)))))))

  (defun validate-name:bool (name:string)
    @doc "Fails for a name that cannot be reserved."
    (enforce (!= name "") "Empty name not allowed")
    (enforce (<= (length name) MAXIMUM_NAME_LENGTH) "Name must be less than 64 characters long")
    (enforce (is-charset CHARSET_LATIN1 name) "Name must be in latin1 charset"))

  (defun validate:bool (ns-name:string ns-admin:guard)
    @doc "Asked for each new namespace. Anybody may define the principal namespace of a keyset. \
         \All others must have been reserved, be active, and have the guard they were reserved with."
    (if (= ns-name (create-principal-namespace ns-admin))
      true
      (with-default-read registry ns-name
        { "admin-guard": ns-admin, "active": false }
        { "admin-guard" := owner, "active" := active }
        (enforce active "Inactive or unregistered namespace")
        (enforce (= owner ns-admin) "Admin guard must match guard in registry"))))

  (defun write-registry:string (ns-name:string guard:guard active:bool)
    @doc "Reserves a namespace for a guard, and says whether it may be defined."
    (with-capability (OPERATE)
      (validate-name ns-name)
      (write registry ns-name { "admin-guard": guard, "active": active })
      "Register entry written"))

  (defun success:bool ()
    @doc "For guards that let everybody pass."
    true)

  (defun failure:bool ()
    @doc "For guards that let nobody pass."
    (enforce false "Disabled"))

  (defun query:object{reg-entry} (ns-name:string)
    @doc "How a namespace is reserved. Fails when it is not."
    (read registry ns-name))
)
