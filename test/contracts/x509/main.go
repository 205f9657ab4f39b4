// Reads and verifies certificates by Go's crypto/x509, as SPIRE does: JSON of what it saw, one line a certificate.
// Usage: main ISSUER.pem CERTIFICATE.der…
package main

import (
	"crypto/x509"
	"encoding/asn1"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
)

type hardwareModuleName struct {
	HwType      asn1.ObjectIdentifier
	HwSerialNum []byte
}

type otherName struct {
	TypeID asn1.ObjectIdentifier
	Value  hardwareModuleName `asn1:"tag:0,explicit"`
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func verify(leaf, issuer *x509.Certificate, usage x509.ExtKeyUsage) string {
	roots := x509.NewCertPool()
	roots.AddCert(issuer)
	_, err := leaf.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: leaf.NotBefore, KeyUsages: []x509.ExtKeyUsage{usage}})
	if err != nil {
		return err.Error()
	}
	return "ok"
}

// hardware reads the one otherName of a subjectAltName and the module name in it, with nothing left over.
func hardware(leaf *x509.Certificate) (typeID, hwType, serial string) {
	for _, extension := range leaf.Extensions {
		if extension.Id.String() != "2.5.29.17" {
			continue
		}
		var names []asn1.RawValue
		rest, err := asn1.Unmarshal(extension.Value, &names)
		must(err)
		if len(rest) != 0 || len(names) != 2 {
			must(fmt.Errorf("%d names, %d bytes behind them", len(names), len(rest)))
		}
		for _, name := range names {
			if name.Class != asn1.ClassContextSpecific || name.Tag != 0 {
				continue
			}
			var other otherName
			rest, err = asn1.UnmarshalWithParams(name.FullBytes, &other, "tag:0")
			must(err)
			if len(rest) != 0 {
				must(fmt.Errorf("bytes behind an otherName"))
			}
			return other.TypeID.String(), other.Value.HwType.String(), hex.EncodeToString(other.Value.HwSerialNum)
		}
	}
	return "", "", ""
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	must(err)
	block, _ := pem.Decode(text)
	issuer, err := x509.ParseCertificate(block.Bytes)
	must(err)
	for _, path := range os.Args[2:] {
		der, err := os.ReadFile(path)
		must(err)
		leaf, err := x509.ParseCertificate(der)
		must(err)
		var subject, critical, extensions, usages, policies []string
		for _, name := range leaf.Subject.Names {
			subject = append(subject, fmt.Sprintf("%s=%s", name.Type, name.Value))
		}
		for _, extension := range leaf.Extensions {
			extensions = append(extensions, extension.Id.String())
			if extension.Critical {
				critical = append(critical, extension.Id.String())
			}
		}
		for _, usage := range leaf.ExtKeyUsage {
			usages = append(usages, fmt.Sprint(int(usage)))
		}
		for _, usage := range leaf.UnknownExtKeyUsage {
			usages = append(usages, usage.String())
		}
		for _, policy := range leaf.Policies {
			policies = append(policies, policy.String())
		}
		typeID, hwType, hwSerial := hardware(leaf)
		uris := []string{}
		for _, uri := range leaf.URIs {
			uris = append(uris, uri.String())
		}
		must(json.NewEncoder(os.Stdout).Encode(map[string]any{
			"version": leaf.Version, "serial": hex.EncodeToString(leaf.SerialNumber.Bytes()), "serialSign": leaf.SerialNumber.Sign(),
			"subject": subject, "issuer": hex.EncodeToString(leaf.RawIssuer), "algorithm": leaf.SignatureAlgorithm.String(),
			"spki": hex.EncodeToString(leaf.RawSubjectPublicKeyInfo), "uris": uris, "names": len(leaf.DNSNames) + len(leaf.EmailAddresses) + len(leaf.IPAddresses),
			"otherName": []string{typeID, hwType, hwSerial}, "keyUsage": int(leaf.KeyUsage), "usages": usages, "policies": policies,
			"basicConstraints": leaf.BasicConstraintsValid, "ca": leaf.IsCA, "extensions": extensions, "critical": critical,
			"unhandled": len(leaf.UnhandledCriticalExtensions), "ski": hex.EncodeToString(leaf.SubjectKeyId), "aki": hex.EncodeToString(leaf.AuthorityKeyId),
			"notBefore": leaf.NotBefore.UnixMilli(), "notAfter": leaf.NotAfter.UnixMilli(),
			"any": verify(leaf, issuer, x509.ExtKeyUsageAny), "client": verify(leaf, issuer, x509.ExtKeyUsageClientAuth),
		}))
	}
}
