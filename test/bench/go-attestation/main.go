// Prints, for each file, the CPU time in microseconds of one verification by google/go-attestation: the AK parsed, the
// quote verified, the log parsed and replayed, Secure Boot's state read. The best of five rounds.
package main

import (
	"crypto"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/google/go-attestation/attest"
)

type evidence struct {
	AkPublic, Nonce, Quote, Signature, EventLog []byte
	Pcrs                                        map[string]string
}

func (e evidence) verify(pcrs []attest.PCR) error {
	ak, err := attest.ParseAKPublic(e.AkPublic[2:])
	if err != nil {
		return err
	}
	values := append([]attest.PCR(nil), pcrs...)
	if err := ak.Verify(attest.Quote{Quote: e.Quote, Signature: e.Signature}, values, e.Nonce); err != nil {
		return err
	}
	log, err := attest.ParseEventLog(e.EventLog)
	if err != nil {
		return err
	}
	events, err := log.Verify(values)
	if err != nil {
		return err
	}
	_, err = attest.ParseSecurebootState(events)
	return err
}

func cpu() time.Duration {
	var usage syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func read(file string) (evidence, []attest.PCR, error) {
	var e evidence
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	pcrs := []attest.PCR{}
	for index, value := range e.Pcrs {
		i, _ := strconv.Atoi(index)
		digest, _ := hex.DecodeString(value)
		pcrs = append(pcrs, attest.PCR{Index: i, Digest: digest, DigestAlg: crypto.SHA256})
	}
	return e, pcrs, err
}

func main() {
	for _, file := range os.Args[1:] {
		e, pcrs, err := read(file)
		if err == nil {
			err = e.verify(pcrs)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, file, err)
			os.Exit(1)
		}
		best := 0.0
		for round := 0; round < 5; round++ {
			calls, start := 0, cpu()
			for cpu()-start < 300*time.Millisecond {
				e.verify(pcrs)
				calls++
			}
			spent := float64((cpu() - start).Nanoseconds()) / 1000 / float64(calls)
			if round == 0 || spent < best {
				best = spent
			}
		}
		fmt.Println(best)
	}
}
