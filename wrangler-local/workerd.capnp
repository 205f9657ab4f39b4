# Bare workerd, local only: start.ts copies this beside worker.mjs and kubernetes-ca.pem and gives addresses and texts.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .fleetd),
    (name = "internet", network = (allow = ["private", "public", "local"])),
    (name = "kubernetes", external = (
      address = "127.0.0.1:6443",
      https = (
        options = (),
        tlsOptions = (trustedCertificates = [embed "kubernetes-ca.pem"]),
        certificateHost = "localhost"
      )
    )),
  ],
  sockets = [(name = "http", address = "127.0.0.1:8787", http = (), service = "main")],
);

const fleetd :Workerd.Worker = (
  modules = [(name = "worker", esModule = embed "worker.mjs")],
  compatibilityDate = "2026-11-01",
  bindings = [
    (name = "KUBERNETES", service = "kubernetes"),
    (name = "KUBERNETES_TOKEN", fromEnvironment = "KUBERNETES_TOKEN"),
    (name = "NAMESPACE", fromEnvironment = "NAMESPACE"),
    (name = "NETBOX_URL", fromEnvironment = "NETBOX_URL"),
    (name = "NETBOX_TOKEN", fromEnvironment = "NETBOX_TOKEN"),
    (name = "NETBOX_ROLE", fromEnvironment = "NETBOX_ROLE"),
    (name = "NETBOX_USER", fromEnvironment = "NETBOX_USER"),
    (name = "SESSION_KEY", fromEnvironment = "SESSION_KEY"),
    (name = "TRUST_DOMAIN", fromEnvironment = "TRUST_DOMAIN"),
    (name = "CA_KEY_PEM", fromEnvironment = "CA_KEY_PEM"),
    (name = "CA_CHAIN_PEM", fromEnvironment = "CA_CHAIN_PEM"),
    (name = "POLICY", fromEnvironment = "POLICY"),
    (name = "DURATIONS", fromEnvironment = "DURATIONS"),
  ],
);
