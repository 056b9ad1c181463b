module jobflow/tests/system/clients/go

go 1.24.0

require (
	k8s.io/apimachinery v0.33.1
	k8s.io/client-go v0.33.1
)
