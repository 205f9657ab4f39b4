import { SoftwareNodeTpm } from "./node-tpm.ts";
import { renewalSuite } from "./suite.ts";

renewalSuite("renewal by the software TPM", () => SoftwareNodeTpm.open());
