// The public face of `bursar/chain`: reading and verifying chains, for browsers too. Nothing here needs Node.

export { canonicalize, isCanonical, type Json, type JsonObject } from "./core/chain/canonical.js";
export { CanonicalError } from "./core/chain/canonical-error.js";
export { type Head, type Link, type LinkBody, parseLine } from "./core/chain/link.js";
export { LinkError } from "./core/chain/rules.js";
export { type HeadVerification, type HeadVerifier, type SignedHead, verifyHead } from "./core/chain/signed-head.js";
export {
  type Verification,
  type VerificationFailure,
  type VerificationReason,
  type VerifyOptions,
  verifyChain,
  verifyJsonl,
} from "./core/chain/verify.js";
