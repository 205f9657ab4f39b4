module fleetd-bench-go-attestation

go 1.24.0

require github.com/google/go-attestation v0.6.4

require (
	github.com/google/go-tpm v0.9.8 // indirect
	golang.org/x/sys v0.41.0 // indirect
)
